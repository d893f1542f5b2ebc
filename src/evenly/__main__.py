"""``python -m evenly`` is the command line."""

from evenly.cli import main

if __name__ == "__main__":
    main()
