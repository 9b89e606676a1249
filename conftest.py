"""Makes the shared fixtures known to the Python tests and to the pgTAP files alike."""

pytest_plugins = ("tests.support.fixtures",)
