"""Small boards over HTTP: answered in the request that asks, by processes of the service."""
