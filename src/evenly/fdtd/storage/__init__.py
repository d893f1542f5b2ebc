"""What goes to disk: checkpoints that any number of ranks can read, fields in HDF5."""
