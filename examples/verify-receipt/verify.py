#!/usr/bin/env python3
"""Verifies receipts of tool calls. Needs only Python 3.9 and the package "cryptography".

    python3 verify.py --leader-key HEX64 --tool-key HEX64 FILE...
    cat receipts | python3 verify.py --null -          receipts separated by NUL bytes

Prints one line for each receipt. Exit code: 0 all are true, 1 one is false, 2 one cannot be decided, because a key was not
given or a file cannot be read. docs/receipts.md describes the format, docs/protocol.md the signatures (sections 3 and 4).
"""

import argparse
import base64
import binascii
import datetime
import hashlib
import json
import re
import sys

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

RESOLVED_INPUT = b"nexus.direct.v3.resolved-input"
RAW_OUTPUT = b"nexus.direct.v3.raw-output"
TOOL_RESPONSE = b"nexus.direct.v3.tool-response"
MAX_RECEIPT = 12 * 1024 * 1024
MAX_RESULT = 262_144


class Malformed(Exception):
    """The document is not a receipt."""


# -- The strict reader


def unique(pairs):
    members = dict(pairs)
    if len(members) != len(pairs):
        raise Malformed("a member is repeated")
    return members


def not_an_integer(_text):
    raise Malformed("a number is not an integer")


def load(data):
    if len(data) > MAX_RECEIPT:
        raise Malformed("more than 12 MiB")
    try:
        return json.loads(
            data.decode("utf-8"),
            object_pairs_hook=unique,
            parse_int=lambda text: ("integer", text),
            parse_float=not_an_integer,
            parse_constant=not_an_integer,
        )
    except (ValueError, RecursionError) as error:
        raise Malformed("not JSON") from error


def members(value, required, optional=()):
    if not isinstance(value, dict) or not set(required) <= set(value) <= {*required, *optional}:
        raise Malformed(f"expected an object with {', '.join(required)}")
    return value


def text(value, pattern):
    if not isinstance(value, str) or re.fullmatch(pattern, value, re.ASCII) is None:
        raise Malformed("a text has another form")
    return value


def octets(value, length=None):
    if not isinstance(value, str):
        raise Malformed("expected base64")
    try:
        decoded = base64.b64decode(value.encode("ascii"), validate=True)
    except (ValueError, binascii.Error) as error:
        raise Malformed("expected base64") from error
    if base64.b64encode(decoded).decode() != value or len(decoded) > MAX_RESULT or length not in (None, len(decoded)):
        raise Malformed("base64 of another length, or not canonical")
    return decoded


def u64(value):
    number = int(text(value, r"0|[1-9][0-9]{0,19}"))
    if number >= 2**64:
        raise Malformed("key_id is not a u64")
    return number


def moment(value):
    text(value, r"2[0-9]{3}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z")
    try:
        datetime.datetime.strptime(value, "%Y-%m-%dT%H:%M:%S.%fZ")
    except ValueError as error:
        raise Malformed("no such time") from error
    return value


def committed(value):
    members(value, ["commitment"], ["text"])
    enclosed = value.get("text")
    if "text" in value:
        if not isinstance(enclosed, str):
            raise Malformed("expected a text")
        try:
            enclosed = enclosed.encode("utf-8")
        except UnicodeEncodeError as error:
            raise Malformed("a text has a lone surrogate") from error
    return octets(value["commitment"], 32), enclosed


def listed(value, least, most):
    if not isinstance(value, list) or not least <= len(value) <= most:
        raise Malformed(f"expected an array of {least} to {most} items")
    return value


def port(value):
    many = isinstance(value, dict) and "many" in value
    members(value, ["name", "many" if many else "one"])
    name = value["name"]
    if not isinstance(name, str) or not 1 <= len(name) <= 128 or not name.isascii():
        raise Malformed("a port has no name of 1 to 128 ASCII characters")
    values = listed(value["many"], 1, 256) if many else [value["one"]]
    return name.encode("ascii"), many, [committed(each) for each in values]


def parse(data):
    root = members(load(data), ["receipt", "tool", "time", "header_prefix", "leader", "request", "result"])
    if root["receipt"] != ("integer", "1"):
        raise Malformed("expected version 1")
    leader = members(root["leader"], ["id", "key_id", "public_key"])
    request = members(root["request"], ["nonce", "input_hash", "signature", "ports"])
    result = members(root["result"], ["bcs", "signature", "public_key"])
    part = r"[a-z][a-z0-9_-]+"
    fqn = text(root["tool"], rf"{part}(\.{part}){{2,}}@[1-9][0-9]{{0,9}}")
    if int(fqn.rpartition("@")[2]) >= 2**32:
        raise Malformed("the version of the tool is too large")
    text(root["header_prefix"], r"[A-Za-z][A-Za-z0-9-]*-")
    return {
        "tool": fqn,
        "time": moment(root["time"]),
        "leader": (text(leader["id"], r"[\x21-\x7e]+"), u64(leader["key_id"])),
        "leader_key": bytes.fromhex(text(leader["public_key"], r"[0-9a-f]{64}")),
        "nonce": octets(request["nonce"], 32),
        "input_hash": octets(request["input_hash"], 32),
        "leader_signature": octets(request["signature"], 64),
        "ports": [port(each) for each in listed(request["ports"], 0, 32)],
        "bcs": octets(result["bcs"]),
        "tool_signature": octets(result["signature"], 64),
        "tool_key": bytes.fromhex(text(result["public_key"], r"[0-9a-f]{64}")),
    }


# -- BCS


def length(number):
    """ULEB128."""
    out = bytearray()
    while number >= 0x80:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes(out) + bytes([number])


def vector(data):
    return length(len(data)) + data


def input_hash(ports):
    out = RESOLVED_INPUT + length(len(ports))
    for name, many, values in ports:
        # PortCommitment: variant One or Many, ValueKind::Data, then one commitment or a list.
        out += vector(name) + bytes([many, 1])
        out += length(len(values)) if many else b""
        out += b"".join(vector(commitment) for commitment, _ in values)
    return hashlib.sha256(out).digest()


class Reader:
    """Reads an OffchainToolOutput. Raises ValueError unless the bytes are exactly one."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, count):
        if self.at + count > len(self.data):
            raise ValueError("too short")
        self.at += count
        return self.data[self.at - count : self.at]

    def length(self):
        value = 0
        for shift in range(0, 35, 7):
            byte = self.take(1)[0]
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                if value >= 2**32 or (byte == 0 and shift > 0):
                    break
                return value
        raise ValueError("a length is not canonical")

    def vector(self):
        return self.take(self.length())

    def value(self):
        kind = self.length()
        if kind == 0:
            return "object", self.take(32)
        if kind == 1:
            return "inline", self.vector()
        if kind == 2:
            return "stored", self.vector(), self.vector()
        raise ValueError("no such kind of value")

    def output(self):
        tag = self.vector()
        ports = [(self.vector(), [self.value() for _ in range(self.length())]) for _ in range(self.length())]
        if self.at != len(self.data):
            raise ValueError("bytes after the result")
        return tag, ports


# -- Signatures

P = 2**255 - 19
#: y coordinates of the points of small order.
SMALL_ORDER = {
    0,
    1,
    P - 1,
    2707385501144840649318225287225658788936804267575313519463743609750303021474,
    55188659117513257062467267217118295137698188065244968500265048394206261417927,
}


def is_strict(point):
    """Whether an encoded point is canonical and not of small order, as dalek's verify_strict requires."""
    y = int.from_bytes(point, "little") & (2**255 - 1)
    return y < P and y not in SMALL_ORDER


def verifies(key, message, signature):
    if not is_strict(key) or not is_strict(signature[:32]):
        return False
    try:
        Ed25519PublicKey.from_public_bytes(key).verify(signature, message)
        return True
    except (InvalidSignature, ValueError):
        return False


# -- Verdicts


def judge(data, leader_key=None, tool_key=None):
    """Returns 0 (true), 1 (false) or 2 (cannot be decided), and a sentence."""
    try:
        receipt = parse(data)
    except Malformed as error:
        return 1, f"not a receipt: {error}"
    if input_hash(receipt["ports"]) != receipt["input_hash"]:
        return 1, "the input hash is not that of the commitments"
    for _name, _many, values in receipt["ports"]:
        for commitment, enclosed in values:
            if enclosed is not None and hashlib.sha256(enclosed).digest() != commitment:
                return 1, "an enclosed input does not match its commitment"
    if not verifies(receipt["leader_key"], receipt["input_hash"], receipt["leader_signature"]):
        return 1, "the leader's signature does not verify"
    try:
        tag, _ports = Reader(receipt["bcs"]).output()
    except ValueError:
        return 1, "the result is not canonical BCS"
    output_hash = hashlib.sha256(RAW_OUTPUT + receipt["bcs"]).digest()
    message = TOOL_RESPONSE + receipt["leader_signature"] + receipt["nonce"] + output_hash
    if not verifies(receipt["tool_key"], message, receipt["tool_signature"]):
        return 1, "the tool's signature does not verify"
    for whose, expected in (("leader", leader_key), ("tool", tool_key)):
        if expected is not None and expected != receipt[f"{whose}_key"]:
            return 1, f"the key is not the expected key of the {whose}"
    name = ascii(tag.decode("latin-1"))
    for whose, expected in (("leader", leader_key), ("tool", tool_key)):
        if expected is None:
            return 2, f"the signatures verify; whether this is the {whose}'s key was not checked: --{whose}-key"
    return 0, f"the key {receipt['tool_key'].hex()} answered {name} to a request of {receipt['leader_key'].hex()}"


def key(value):
    if re.fullmatch(r"[0-9a-f]{64}", value, re.ASCII) is None:
        raise argparse.ArgumentTypeError("expected 64 lower-case hex digits")
    return bytes.fromhex(value)


def main():
    parser = argparse.ArgumentParser(description="Verifies receipts of tool calls.")
    parser.add_argument("--leader-key", type=key, metavar="HEX")
    parser.add_argument("--tool-key", type=key, metavar="HEX")
    parser.add_argument("--null", action="store_true", help="each file holds receipts separated by NUL bytes")
    parser.add_argument("files", nargs="+", metavar="FILE")
    options = parser.parse_args()
    codes = set()
    for file in options.files:
        try:
            with open(0 if file == "-" else file, "rb") as stream:
                content = stream.read() if options.null else stream.read(MAX_RECEIPT + 1)
        except OSError as error:
            print(f"undecided {ascii(file)}: cannot be read: {error.strerror}")
            codes.add(2)
            continue
        for data in content.split(b"\0") if options.null else [content]:
            code, sentence = judge(data, options.leader_key, options.tool_key)
            codes.add(code)
            print(f"{('true', 'false', 'undecided')[code]} {ascii(file)}: {sentence}")
    sys.exit(1 if 1 in codes else max(codes))


if __name__ == "__main__":
    main()
