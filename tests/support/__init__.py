"""What the tests share: servers, pgTAP, a client."""
