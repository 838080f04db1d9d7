"""A Redis server behind TLS: our client, Celery's transport and a worker reach a trusted one.

The embedded server is built without TLS, so a proxy of the test adds it.
"""

from __future__ import annotations

import asyncio
import datetime as dt
import ipaddress
import ssl
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path

import pytest
import redis
import redis.asyncio
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID
from kombu.exceptions import OperationalError

from nightgrid.service.cli.doctor import check_server
from nightgrid.solvers.errors import PermanentError, TransientError
from nightgrid.workers.app import WORK_CHUNK, client_app
from nightgrid.workers.broker.connection import answering, connect
from nightgrid.workers.cluster import server
from nightgrid.workers.settings import Settings
from tests.workers.conftest import quick_settings

SECRET = "s3cret-of-the-test"
HOST = "127.0.0.1"
REFUSED = (
    r"the Redis server at 127\.0\.0\.1:\d+ is not used: its certificate is refused \([^()\n]+\); "
    r"expected one for its name, from an authority that ssl_ca_certs in NIGHTGRID_REDIS_URL names "
    r"or that this machine trusts"
)


class Authority:
    """A certificate authority of the test, with its certificate in a file."""

    def __init__(self, folder: Path, name: str) -> None:
        self.folder = folder
        self.name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        self.key = ec.generate_private_key(ec.SECP256R1())
        signed = self._signed(self.name, self.key).add_extension(
            x509.BasicConstraints(ca=True, path_length=None), critical=True
        )
        self.file = folder / f"{name}.pem"
        certificate = signed.sign(self.key, hashes.SHA256())
        self.file.write_bytes(certificate.public_bytes(Encoding.PEM))

    def _signed(
        self, subject: x509.Name, key: ec.EllipticCurvePrivateKey
    ) -> x509.CertificateBuilder:
        now = dt.datetime.now(dt.UTC)
        return (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(self.name)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - dt.timedelta(hours=1))
            .not_valid_after(now + dt.timedelta(days=1))
        )

    def context(self, address: str) -> ssl.SSLContext:
        """Make a certificate of this authority for a server at an address."""
        key = ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, address)])
        names = [x509.IPAddress(ipaddress.ip_address(address))]
        signed = self._signed(subject, key).add_extension(
            x509.SubjectAlternativeName(names), critical=False
        )
        path = self.folder / f"server-{address}.pem"
        path.write_bytes(
            key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
            + signed.sign(self.key, hashes.SHA256()).public_bytes(Encoding.PEM)
        )
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(path)
        return context


class Proxy:
    """Forwards TLS connections to a unix socket; without a context it does not speak TLS."""

    def __init__(self, socket_path: Path, context: ssl.SSLContext | None) -> None:
        self.passed = 0
        """Connections whose client took the certificate."""
        self._socket_path, self._context = socket_path, context
        self._loop = asyncio.new_event_loop()
        opening = asyncio.start_server(self._forward, HOST, 0, ssl=context)
        self._server = self._loop.run_until_complete(opening)
        self.port = int(self._server.sockets[0].getsockname()[1])
        self._thread = threading.Thread(target=self._loop.run_forever)
        self._thread.start()

    async def _forward(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.passed += 1
        try:
            if self._context is None:
                await reader.read(1)
                writer.write(b"-ERR this is no Redis command\r\n")
                await writer.drain()
                return
            there, back = await asyncio.open_unix_connection(self._socket_path)
            try:
                ways = [_pump(reader, back), _pump(there, writer)]
                tasks = [asyncio.ensure_future(way) for way in ways]
                await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            finally:
                for task in tasks:
                    task.cancel()
                back.transport.abort()
        except asyncio.CancelledError:
            # The test is over: tasks of streams should not end as cancelled.
            pass
        finally:
            writer.transport.abort()

    def close(self) -> None:
        async def end() -> None:
            self._server.close()
            open_tasks = asyncio.all_tasks() - {asyncio.current_task()}
            for task in open_tasks:
                task.cancel()
            await asyncio.gather(*open_tasks, return_exceptions=True)
            # Aborted transports close their sockets in the next iteration.
            await asyncio.sleep(0.01)

        asyncio.run_coroutine_threadsafe(end(), self._loop).result(20)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("authority"), "trusted")


@pytest.fixture(scope="module")
def socket_path(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The socket of a server whose only user is `grid`."""
    settings = Settings(lake=str(tmp_path_factory.mktemp("tls") / "lake"))
    command = server.server_command(settings)
    users = server.data_dir(settings) / "users.acl"
    users.write_text(f"user default off\nuser grid on >{SECRET} ~* &* +@all\n")
    process = subprocess.Popen([*command, "--aclfile", str(users)], stdout=subprocess.DEVNULL)
    try:
        path = settings.socket_path
        ends_at = time.monotonic() + 20
        while not server.is_up(
            Settings(redis_url=f"unix://grid:{SECRET}@{path}?db=0")  # type: ignore[arg-type]
        ):
            assert time.monotonic() < ends_at, "the server does not start"
            time.sleep(0.02)
        yield path
    finally:
        process.terminate()
        process.wait(20)


@pytest.fixture(scope="module")
def open_proxy(socket_path: Path) -> Iterator[Callable[[ssl.SSLContext | None], Proxy]]:
    opened: list[Proxy] = []

    def open_one(context: ssl.SSLContext | None) -> Proxy:
        opened.append(Proxy(socket_path, context))
        return opened[-1]

    yield open_one
    for proxy in opened:
        proxy.close()


@pytest.fixture(scope="module")
def proxy(open_proxy: Callable[[ssl.SSLContext | None], Proxy], authority: Authority) -> Proxy:
    return open_proxy(authority.context(HOST))


def url_of(proxy: Proxy, authority: Authority | None, options: str = "") -> str:
    named = "" if authority is None else f"ssl_ca_certs={authority.file}"
    return f"rediss://grid:{SECRET}@{HOST}:{proxy.port}/0?{named}{options}".rstrip("?")


def test_every_client_reaches_a_server_whose_authority_is_named(
    tmp_path: Path, proxy: Proxy, authority: Authority
) -> None:
    """Given a server behind TLS, Then our client, the service's and Celery's speak with it."""
    url = url_of(proxy, authority)
    settings = Settings(lake=str(tmp_path / "lake"), redis_url=url)  # type: ignore[arg-type]
    before = proxy.passed
    assert server.is_up(settings)

    async def ping() -> bool:
        async with redis.asyncio.Redis.from_url(settings.server_url) as client:
            return bool(await client.ping())

    assert asyncio.run(ping())
    client_app(settings).send_task(WORK_CHUNK, ("ref",))
    with closing(connect(settings)) as client:
        lists = [key for key in client.scan_iter("*:batch") if client.type(key) == "list"]
        assert [client.llen(key) for key in lists] == [1]
    assert proxy.passed >= before + 4
    assert next(check_server(settings)).verdict == "ok"


@pytest.mark.parametrize("case", ["unknown authority", "another authority", "another name"])
def test_an_untrusted_server_is_refused_before_it_gets_a_password(
    case: str,
    tmp_path: Path,
    open_proxy: Callable[[ssl.SSLContext | None], Proxy],
    authority: Authority,
) -> None:
    named: Authority | None = authority
    context = authority.context("127.0.0.2" if case == "another name" else HOST)
    if case == "unknown authority":
        named = None
    elif case == "another authority":
        named = Authority(tmp_path, "other")
    proxy = open_proxy(context)
    settings = quick_settings(tmp_path, redis_url=url_of(proxy, named))
    with pytest.raises(PermanentError, match=REFUSED) as up:
        server.is_up(settings)
    with (
        closing(connect(settings)) as client,
        pytest.raises(TransientError, match="is not used: its certificate is refused") as asked,
        answering(),
    ):
        client.ping()
    with pytest.raises(OperationalError, match="CERTIFICATE_VERIFY_FAILED") as sent:
        client_app(settings).send_task(WORK_CHUNK, ("ref",), retry=False)
    (finding,) = check_server(settings)
    assert finding.verdict == "failure"
    told = [str(each.value) for each in (up, asked, sent)] + [finding.found]
    for sentence in told:
        assert SECRET not in sentence
        assert "\n" not in sentence
    assert proxy.passed == 0, "a client went on with a server that is not to be trusted"


def test_a_server_without_tls_is_distinguished_from_a_dead_one(
    tmp_path: Path, open_proxy: Callable[[ssl.SSLContext | None], Proxy], authority: Authority
) -> None:
    plain = open_proxy(None)
    url = url_of(plain, authority)
    settings = Settings(lake=str(tmp_path / "lake"), redis_url=url)  # type: ignore[arg-type]
    with pytest.raises(PermanentError, match=r"TLS with it fails \([a-z ]+\); expected") as caught:
        server.is_up(settings)
    assert SECRET not in str(caught.value)
