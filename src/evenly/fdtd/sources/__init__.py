"""What drives the fields: currents in space, pulses in time."""
