"""Fetching over HTTP: the server is real, on the loopback, and misbehaves as it is told."""

import errno
import hashlib
import http.client
import os
import re
import ssl
import subprocess
import sys
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, SimpleHTTPRequestHandler, ThreadingHTTPServer

import pytest

from coretail.errors import InputError
from coretail.longmemeval import fetch as module
from coretail.longmemeval.fetch import ATTEMPTS, fetch

BODY = b"".join(hashlib.sha256(str(n).encode()).digest() for n in range(5000))
SHA = hashlib.sha256(BODY).hexdigest()
HALF = len(BODY) // 2


class Server(ThreadingHTTPServer):
    share = 0.75


class Handler(BaseHTTPRequestHandler):
    """Sends the server's body; ``server.plan`` says what each request in turn suffers."""

    def do_GET(self):
        server = self.server
        asked = self.headers.get("Range")
        server.ranges.append(asked)
        step = server.plan.pop(0) if server.plan else "ok"
        if isinstance(step, int):
            self.send_error(step)
            return
        if isinstance(step, bytes):
            # A network's page in place of the file, whole.
            self.send_response(200)
            self.send_header("Content-Length", str(len(step)))
            self.end_headers()
            self.wfile.write(step)
            return
        begin = 0
        if asked and step not in ("ignore range", "ignore range, drop"):
            begin = int(re.fullmatch(r"bytes=(\d+)-", asked)[1])
            if begin >= len(server.body):
                self.send_error(416)
                return
            claimed = begin + 1 if step == "wrong range" else begin
            self.send_response(206)
            end = len(server.body)
            self.send_header("Content-Range", f"bytes {claimed}-{end - 1}/{end}")
        else:
            self.send_response(200)
        rest = server.body[begin:]
        if step != "no length":
            self.send_header("Content-Length", str(len(rest)))
        self.end_headers()
        # A connection that closes early, after some bytes of the body or none.
        share = {"drop": 0.5, "drop at once": 0.0, "ignore range, drop": server.share}.get(
            step, 1.0
        )
        self.wfile.write(rest[: int(share * len(rest))])

    def log_message(self, *arguments):
        pass


@contextmanager
def serving(handler, **attributes):
    server = Server(("127.0.0.1", 0), handler)
    vars(server).update(attributes)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server, f"http://127.0.0.1:{server.server_port}/data/file.json"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch):
    monkeypatch.setenv("no_proxy", "127.0.0.1")


@pytest.fixture
def served():
    with serving(Handler, body=BODY, plan=[], ranges=[]) as both:
        yield both


def get(url, path, sha=SHA, report=lambda line: None):
    return fetch(url, sha, path, report, pause=0.0)


def kept(directory):
    return sorted(path.name for path in directory.iterdir() if path.suffix != ".lock")


def test_a_file_arrives_and_is_not_fetched_again(served, tmp_path):
    server, url = served
    path = tmp_path / "new" / "file.json"
    lines = []
    assert get(url, path, report=lines.append) == path
    assert path.read_bytes() == BODY
    assert kept(path.parent) == ["file.json"]
    assert len(lines) == 1
    assert "complete, 0.2 MB" in lines[0]
    assert get(url, path, SHA.upper()) == path
    assert server.ranges == [None]


def test_the_servers_of_the_standard_library_do(tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "file.json").write_bytes(BODY)

    class Quiet(SimpleHTTPRequestHandler):
        def __init__(self, *arguments):
            super().__init__(*arguments, directory=str(tmp_path))

        def log_message(self, *arguments):
            pass

    with serving(Quiet) as (_, url):
        assert get(url, tmp_path / "copy").read_bytes() == BODY
        # This server knows no ranges: what is there already is sent again.
        (tmp_path / f"other.{SHA[:12]}.partial").write_bytes(BODY[:100])
        assert get(url, tmp_path / "other").read_bytes() == BODY


def test_a_dropped_connection_is_resumed_behind_the_last_byte(served, tmp_path):
    server, url = served
    server.plan = ["drop", "drop at once", "ok"]
    lines = []
    path = get(url, tmp_path / "file.json", report=lines.append)
    assert path.read_bytes() == BODY
    assert server.ranges == [None, f"bytes={HALF}-", f"bytes={HALF}-"]
    assert f"ended at byte {HALF} of {len(BODY)}; trying again" in lines[0]


def test_what_arrived_before_a_failure_is_used_by_the_next_run(served, tmp_path):
    server, url = served
    server.plan = ["drop", *[503] * ATTEMPTS]
    path = tmp_path / "file.json"
    with pytest.raises(InputError, match=f"{HALF} bytes are kept") as caught:
        get(url, path)
    assert "503" in str(caught.value)
    # The drop counts as the first failure in a row.
    assert len(server.ranges) == ATTEMPTS
    assert kept(tmp_path) == [f"file.json.{SHA[:12]}.partial"]
    server.plan, server.ranges = [], []
    assert get(url, path).read_bytes() == BODY
    assert server.ranges == [f"bytes={HALF}-"]
    assert kept(tmp_path) == ["file.json"]


def test_failures_in_a_row_are_counted_anew_after_progress(served, tmp_path):
    server, url = served
    server.plan = [*[500] * (ATTEMPTS - 1), "drop", *[500] * (ATTEMPTS - 2)]
    assert get(url, tmp_path / "file.json").read_bytes() == BODY


@pytest.mark.parametrize("step", ["ignore range", "wrong range"])
def test_a_server_that_cannot_resume_sends_the_file_anew(served, tmp_path, step):
    server, url = served
    server.plan = ["drop", step]
    lines = []
    assert get(url, tmp_path / "file.json", report=lines.append).read_bytes() == BODY
    assert any("cannot resume; starting anew" in line for line in lines)
    assert server.ranges[1] == f"bytes={HALF}-"


PAGE = b"<html>Sign in to this network.</html>"


@pytest.mark.parametrize("page", [PAGE, BODY[:HALF] + PAGE])
def test_a_page_in_place_of_the_rest_costs_nothing_that_came_before(served, tmp_path, page):
    server, url = served
    server.plan = ["drop", page]
    path = tmp_path / "file.json"
    with pytest.raises(InputError, match=f"The {HALF} bytes from before are kept") as caught:
        get(url, path)
    assert hashlib.sha256(page).hexdigest() in str(caught.value)
    assert kept(tmp_path) == [f"file.json.{SHA[:12]}.partial"]
    assert (tmp_path / f"file.json.{SHA[:12]}.partial").read_bytes() == BODY[:HALF]
    # Out of that network, the fetch goes on where it was.
    server.ranges = []
    assert get(url, path).read_bytes() == BODY
    assert server.ranges == [f"bytes={HALF}-"]
    assert kept(tmp_path) == ["file.json"]


@pytest.mark.parametrize(("share", "begin"), [(0.75, 3 * len(BODY) // 4), (0.25, HALF)])
def test_of_two_beginnings_the_longer_one_is_kept(served, tmp_path, share, begin):
    server, url = served
    server.share = share
    server.plan = ["drop", "ignore range, drop"]
    assert get(url, tmp_path / "file.json").read_bytes() == BODY
    assert server.ranges == [None, f"bytes={HALF}-", f"bytes={begin}-"]
    assert kept(tmp_path) == ["file.json"]


@pytest.mark.parametrize(
    "error",
    [
        OSError(errno.EHOSTUNREACH, "No route to host"),
        OSError(errno.ENETDOWN, "Network is down"),
        ssl.SSLError(1, "bad record mac"),
        http.client.IncompleteRead(b""),
    ],
)
@pytest.mark.parametrize("where", ["read", "begin"])
def test_an_error_of_the_network_is_tried_again(served, tmp_path, monkeypatch, error, where):
    _, url = served
    failing = [error]
    original = getattr(http.client.HTTPResponse, where)

    def fails_once(response, *arguments):
        if failing:
            raise failing.pop()
        return original(response, *arguments)

    monkeypatch.setattr(http.client.HTTPResponse, where, fails_once)
    lines = []
    assert get(url, tmp_path / "file.json", report=lines.append).read_bytes() == BODY
    assert failing == []
    assert f"{error}; trying again" in lines[0]


def test_an_error_of_writing_is_none_of_the_network(served, tmp_path):
    server, url = served
    (tmp_path / f"file.json.{SHA[:12]}.partial").mkdir()
    with pytest.raises(InputError, match=r"cannot be kept in .*: Is a directory\. Make room"):
        get(url, tmp_path / "file.json")
    assert len(server.ranges) == 1


def test_a_body_without_a_length_is_known_by_its_hash(served, tmp_path):
    server, url = served
    server.plan = ["no length"]
    assert get(url, tmp_path / "file.json").read_bytes() == BODY


def test_a_whole_partial_file_only_needs_its_name(served, tmp_path):
    server, url = served
    (tmp_path / f"file.json.{SHA[:12]}.partial").write_bytes(BODY)
    assert get(url, tmp_path / "file.json").read_bytes() == BODY
    assert server.ranges == [f"bytes={len(BODY)}-"]


@pytest.mark.parametrize("partial", [None, b"other bytes", BODY + b"more"])
def test_of_a_wrong_file_nothing_is_kept(served, tmp_path, partial):
    server, url = served
    wrong = "0" * 64 if partial is None else SHA
    if partial is not None:
        (tmp_path / f"file.json.{SHA[:12]}.partial").write_bytes(partial)
    with pytest.raises(InputError, match=rf"expected {wrong}\. Nothing of it was kept"):
        get(url, tmp_path / "file.json", wrong)
    assert kept(tmp_path) == []
    # The next run starts anew, and the right hash makes it right.
    server.ranges = []
    assert get(url, tmp_path / "file.json").read_bytes() == BODY
    assert server.ranges == [None]


def test_bytes_meant_for_another_hash_are_not_continued(served, tmp_path):
    server, url = served
    (tmp_path / f"file.json.{'1' * 12}.partial").write_bytes(b"other")
    assert get(url, tmp_path / "file.json").read_bytes() == BODY
    assert server.ranges == [None]


def test_a_damaged_target_is_replaced(served, tmp_path):
    _, url = served
    path = tmp_path / "file.json"
    path.write_bytes(BODY[:-1])
    assert get(url, path).read_bytes() == BODY


def test_a_final_answer_is_not_asked_again(served, tmp_path):
    server, url = served
    server.plan = [404]
    with pytest.raises(InputError, match="answers 404"):
        get(url, tmp_path / "file.json")
    assert len(server.ranges) == 1


def test_nobody_listening_is_an_error_after_some_tries(tmp_path):
    with serving(Handler, body=b"", plan=[], ranges=[]) as (_, url):
        pass
    lines = []
    with pytest.raises(InputError, match="cannot be fetched"):
        get(url, tmp_path / "file.json", report=lines.append)
    assert len(lines) == ATTEMPTS - 1


def test_no_secret_of_a_url_is_shown(served, tmp_path):
    server, url = served
    server.plan = [403]
    secret = f"{url}?token=s3cret"
    with pytest.raises(InputError) as caught:
        get(secret, tmp_path / "file.json")
    assert "s3cret" not in str(caught.value)
    assert url in str(caught.value)
    lines = []
    get(secret, tmp_path / "file.json", report=lines.append)
    assert "s3cret" not in "".join(lines)


@pytest.mark.parametrize("url", ["file:///etc/hosts", "ftp://host/x", "data.json", "http:///x", ""])
def test_other_addresses_are_refused(tmp_path, url):
    with pytest.raises(InputError, match="url: not an http or https address"):
        get(url, tmp_path / "file.json")


def test_a_password_in_an_address_is_refused_and_not_shown(tmp_path):
    with pytest.raises(InputError, match="without user and password") as caught:
        get("http://user:s3cret@127.0.0.1/x", tmp_path / "file.json")
    assert "s3cret" not in str(caught.value)


@pytest.mark.parametrize("sha", ["", "abc", "g" * 64, SHA + "0"])
def test_a_hash_that_is_none_is_refused(tmp_path, sha):
    with pytest.raises(InputError, match=r"sha256: .* is not a SHA-256"):
        get("http://127.0.0.1:9/x", tmp_path / "file.json", sha)


def test_too_small_a_disk_is_noticed_first(served, tmp_path, monkeypatch):
    _, url = served
    usage = type("Usage", (), {"free": len(BODY) - 1})
    monkeypatch.setattr(module.shutil, "disk_usage", lambda path: usage)
    with pytest.raises(InputError, match="Make room"):
        get(url, tmp_path / "file.json")


def test_a_place_that_cannot_hold_a_file_is_named(served, tmp_path):
    _, url = served
    (tmp_path / "file").write_text("not a directory")
    with pytest.raises(InputError, match=re.escape(str(tmp_path / "file"))):
        get(url, tmp_path / "file" / "x.json")


def test_two_processes_fetch_once(served, tmp_path):
    server, url = served
    code = f"""
import sys
sys.path[:0] = {sys.path!r}
from pathlib import Path
from coretail.longmemeval.fetch import fetch
fetch({url!r}, {SHA!r}, Path({str(tmp_path / "file.json")!r}), print)
"""
    both = [
        subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, env=os.environ)
        for _ in range(2)
    ]
    outputs = [process.communicate(timeout=60)[0] for process in both]
    assert [process.returncode for process in both] == [0, 0]
    assert sum(output.count(b"complete") for output in outputs) == 1
    assert server.ranges == [None]
    assert (tmp_path / "file.json").read_bytes() == BODY
