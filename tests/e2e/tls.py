# SPDX-License-Identifier: Apache-2.0
"""TLS of `torg up`: which handshakes there are, certificates that change, the operators' port, what pages say."""
import hashlib
import http.client
import os
import pathlib
import re
import socket
import ssl
import subprocess

from kit import tap
from kit.binary import Place


def make_certificate(folder, name, days="30"):
    """A key and a certificate for localhost, signed by itself; atomically in place of older ones."""
    new = [folder / f"{name}.{kind}.new" for kind in ("key", "pem")]
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                    "-days", days, "-keyout", new[0], "-out", new[1], "-subj", "/CN=localhost", "-addext",
                    "subjectAltName=DNS:localhost,IP:127.0.0.1"], check=True, capture_output=True)
    return new


def put(paths):
    for path in paths:
        os.rename(path, str(path).removesuffix(".new"))


class Secure(Place):
    spelling = False

    def start_secure(self, *words):
        put(make_certificate(self.dir, "site"))
        return self.start("up", "--tls.certificate=site.pem", "--tls.key=site.key", *words)

    def port(self, url):
        return int(url.rsplit(":", 1)[1])

    def handshake(self, url, **settings):
        """(version, cipher, SHA-256 of the certificate) that a client with these settings gets."""
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        for name, value in settings.items():
            if name == "ciphers":
                context.set_ciphers(value)
            else:
                setattr(context, name, value)
        with socket.create_connection(("127.0.0.1", self.port(url)), timeout=tap.PATIENCE_S) as plain:
            with context.wrap_socket(plain, server_hostname="localhost") as link:
                return link.version(), link.cipher()[0], hashlib.sha256(link.getpeercert(True)).hexdigest()

    def get(self, url, path):
        context = ssl.create_default_context(cafile=str(self.dir / "site.pem"))
        link = http.client.HTTPSConnection("127.0.0.1", self.port(url), context=context, timeout=tap.PATIENCE_S)
        link.request("GET", path)
        answer = link.getresponse()
        answer.read()
        link.close()
        return answer


def fingerprint(path):
    return hashlib.sha256(ssl.PEM_cert_to_DER_cert(pathlib.Path(path).read_text())).hexdigest()


@tap.test
def old_handshakes_are_refused():
    with Secure() as place:
        place.start_secure()
        tap.equal(place.handshake(place.url)[0], "TLSv1.3")
        two = {"maximum_version": ssl.TLSVersion.TLSv1_2}
        version, cipher, _ = place.handshake(place.url, **two)
        tap.equal((version, bool(re.match(r"ECDHE-ECDSA-(AES\d+-GCM|CHACHA20)", cipher))), ("TLSv1.2", True), cipher)
        for ciphers in ("ECDHE-ECDSA-AES128-SHA", "ECDHE-ECDSA-AES256-SHA384", "ECDHE-ECDSA-AES128-SHA256",
                        "AES128-GCM-SHA256", "AES128-SHA", "DHE-RSA-AES128-GCM-SHA256"):
            try:
                place.handshake(place.url, ciphers=ciphers, **two)
            except (ssl.SSLError, ConnectionError):
                continue
            raise AssertionError(f"{ciphers} was accepted")
        tap.equal(place.stop(), 0)


@tap.test
def certificates_are_read_again():
    with Secure() as place:
        place.start_secure()
        first = fingerprint(place.dir / "site.pem")
        tap.equal(place.handshake(place.url)[2], first)
        # An open connection goes on with the old one.
        context = ssl.create_default_context(cafile=str(place.dir / "site.pem"))
        open_link = http.client.HTTPSConnection("127.0.0.1", place.port(place.url), context=context,
                                                timeout=tap.PATIENCE_S)
        open_link.request("GET", "/openapi.json")
        open_link.getresponse().read()
        # Half of a change: the old one stays, and the log says why.
        key, certificate = make_certificate(place.dir, "site")
        put([certificate])
        tap.wait_until(lambda: "has changed, and cannot be used" in place.log(), what="the log's word")
        tap.equal(place.handshake(place.url)[2], first)
        put([key])
        second = fingerprint(place.dir / "site.pem")
        tap.wait_until(lambda: place.handshake(place.url)[2] == second, what="the new certificate")
        tap.wait_until(lambda: "the TLS certificate was read again" in place.log(), what="the log's word")
        tap.equal(place.log().count("has changed, and cannot be used"), 1, "told once")
        open_link.request("GET", "/openapi.json")
        tap.equal(open_link.getresponse().status, 200)
        open_link.close()
        tap.equal(place.stop(), 0)


@tap.test
def the_operators_port_has_tls_when_it_is_asked_for():
    with Secure() as place:
        place.start_secure("--tls.operators=true")
        tap.equal(place.operators.startswith("https://"), True, place.out())
        tap.equal(place.get(place.operators, "/livez").status, 200)
        plain = http.client.HTTPConnection("127.0.0.1", place.port(place.operators), timeout=tap.PATIENCE_S)
        try:
            plain.request("GET", "/livez")
            raise AssertionError(f"plain text was answered {plain.getresponse().status}")
        except (http.client.HTTPException, ConnectionError):
            pass
        tap.equal(place.stop(), 0)


@tap.test
def pages_tell_browsers_to_be_careful():
    with Secure() as place:
        place.start_secure()
        headers = dict(place.get(place.url, "/").getheaders())
        tap.equal(headers.get("strict-transport-security"), "max-age=31536000")
        tap.equal(headers.get("cross-origin-opener-policy"), "same-origin")
        tap.equal(place.stop(), 0)
    with Place() as place:
        place.spelling = False
        place.start()
        link = http.client.HTTPConnection("127.0.0.1", int(place.url.rsplit(":", 1)[1]), timeout=tap.PATIENCE_S)
        link.request("GET", "/")
        headers = dict(link.getresponse().getheaders())
        tap.equal((headers.get("strict-transport-security"), headers.get("cross-origin-opener-policy")),
                  (None, "same-origin"))


tap.main()
