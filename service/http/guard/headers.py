"""Headers that every answer carries, so that a browser does nothing with it but what is meant."""

from __future__ import annotations

from starlette.types import Message, Send

CONTENT_SECURITY = (
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    # The page makes the pictures that it offers for download out of what it has.
    "img-src 'self' data: blob:",
    "connect-src 'self'",
    "font-src 'self'",
    "manifest-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
)
"""What the page may load: its own files, from this service, and nothing written into the page."""
UNUSED = (
    "accelerometer=(), autoplay=(), camera=(), display-capture=(), encrypted-media=(), "
    "fullscreen=(), geolocation=(), gyroscope=(), magnetometer=(), microphone=(), midi=(), "
    "payment=(), picture-in-picture=(), publickey-credentials-get=(), screen-wake-lock=(), "
    "usb=(), xr-spatial-tracking=()"
)
"""Features of a browser that the page does not use."""
HEADERS = {
    "Content-Security-Policy": "; ".join(CONTENT_SECURITY),
    "Cross-Origin-Embedder-Policy": "require-corp",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": UNUSED,
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Cache-Control": "no-store",
}
"""Headers of every answer, unless its route sets them."""

_RAW = tuple(
    (name.lower().encode("ascii"), value.encode("ascii")) for name, value in HEADERS.items()
)


def with_headers(send: Send) -> Send:
    """Add the headers to every answer that is sent."""

    async def send_with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            own = message.get("headers", ())
            names = {name for name, _ in own}
            # A new list: a cached response is sent again.
            more = (pair for pair in _RAW if pair[0] not in names)
            message = {**message, "headers": [*own, *more]}
        await send(message)

    return send_with_headers
