"""Programs that mypy reads with the plugin; never imported."""
