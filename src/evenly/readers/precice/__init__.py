"""Files of the coupling library preCICE: configurations, events, profiling; versions 1 to 3."""
