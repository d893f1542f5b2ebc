"""What a cell is before anything is computed: grid, sides, chunks, and how many points there are of each kind."""
