"""From one kernel's graph to a linear program, as a pipeline of passes driven by `Capabilities`."""
