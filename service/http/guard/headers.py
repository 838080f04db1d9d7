"""Headers that every answer carries, so that a browser does nothing with it but what is meant."""

from __future__ import annotations

from collections.abc import Mapping

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
    "accelerometer",
    "autoplay",
    "camera",
    "display-capture",
    "encrypted-media",
    "fullscreen",
    "geolocation",
    "gyroscope",
    "magnetometer",
    "microphone",
    "midi",
    "payment",
    "picture-in-picture",
    "publickey-credentials-get",
    "screen-wake-lock",
    "usb",
    "xr-spatial-tracking",
)
"""What of a browser the page has no use for."""
HEADERS: Mapping[str, str] = {
    "Content-Security-Policy": "; ".join(CONTENT_SECURITY),
    "Cross-Origin-Embedder-Policy": "require-corp",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": ", ".join(f"{name}=()" for name in UNUSED),
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Cache-Control": "no-store",
}
"""What an answer carries unless its route says otherwise."""

_RAW = tuple(
    (name.lower().encode("ascii"), value.encode("ascii")) for name, value in HEADERS.items()
)


def with_headers(send: Send) -> Send:
    """Let every answer that is sent carry the headers."""

    async def send_with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            own = message.get("headers", ())
            names = {name for name, _ in own}
            # A list of its own: a response that is sent again keeps what it has.
            more = (pair for pair in _RAW if pair[0] not in names)
            message = {**message, "headers": [*own, *more]}
        await send(message)

    return send_with_headers
