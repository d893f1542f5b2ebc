"""Sources of the fields: currents in space, pulses in time."""
