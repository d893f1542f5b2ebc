"""What the machine at hand can do: its cores, memory, and messages, measured in less than a minute."""
