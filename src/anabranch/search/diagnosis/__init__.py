"""Whether the installation is sound, how fast it is, and whether the engine behaves as signed."""
