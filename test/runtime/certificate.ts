/** Certificates for tests, made at test time: an X.509 writer of what TLS looks at (RFC 5280), so that nothing is needed but Node. */

import { generateKeyPairSync, type KeyObject, randomBytes, sign } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { scratchFolder } from "../scratch-folder.js";

export interface Certificate {
  /** PEM. */
  readonly cert: string;
  /** PEM, PKCS #8. */
  readonly key: string;
  readonly name: string;
  readonly privateKey: KeyObject;
}

export interface CertificateOptions {
  readonly kind?: "ec" | "rsa" | "weak-rsa" | "ed25519";
  /** Common name; `localhost` and 127.0.0.1 are always alternative names. */
  readonly name?: string;
  /** Signed by itself without. */
  readonly issuer?: Certificate;
  /** Days from now: yesterday to the day after tomorrow by default. */
  readonly from?: number;
  readonly to?: number;
}

export function makeCertificate({
  kind = "ec",
  name = "localhost",
  issuer,
  from = -1,
  to = 2,
}: CertificateOptions = {}) {
  const { publicKey, privateKey } = pairOf(kind);
  const signer = issuer?.privateKey ?? privateKey;
  const algorithm = algorithmOf(signer);
  const day = (days: number) => utcTime(new Date(Date.now() + days * 86_400_000));
  const tbs = sequence(
    tagged(0xa0, integer(Buffer.from([2]))),
    integer(Buffer.concat([Buffer.from([1]), randomBytes(8)])),
    algorithm,
    nameOf(issuer?.name ?? name),
    sequence(day(from), day(to)),
    nameOf(name),
    publicKey.export({ format: "der", type: "spki" }),
    tagged(0xa3, sequence(extension("551d13", sequence(boolean(true))), extension("551d11", alternativeNames))),
  );
  const signature = sign(signer.asymmetricKeyType === "ed25519" ? null : "sha256", tbs, signer);
  const der = sequence(tbs, algorithm, tagged(0x03, Buffer.from([0]), signature));
  const lines = der.toString("base64").match(/.{1,64}/g) ?? [];
  const certificate: Certificate = {
    cert: `-----BEGIN CERTIFICATE-----\n${lines.join("\n")}\n-----END CERTIFICATE-----\n`,
    key: privateKey.export({ format: "pem", type: "pkcs8" }) as string,
    name,
    privateKey,
  };
  return certificate;
}

/** Files of a certificate and its key, by the variables that a server reads. */
export function certificateFiles({ cert, key }: Certificate = makeCertificate()) {
  const folder = scratchFolder();
  const files = { SVC_TOOL_TLS_CERT_PATH: join(folder, "cert.pem"), SVC_TOOL_TLS_KEY_PATH: join(folder, "key.pem") };
  writeFileSync(files.SVC_TOOL_TLS_CERT_PATH, cert, { mode: 0o600 });
  writeFileSync(files.SVC_TOOL_TLS_KEY_PATH, key, { mode: 0o600 });
  return files;
}

function pairOf(kind: "ec" | "rsa" | "weak-rsa" | "ed25519"): { publicKey: KeyObject; privateKey: KeyObject } {
  if (kind === "ed25519") return generateKeyPairSync("ed25519");
  if (kind === "ec") return generateKeyPairSync("ec", { namedCurve: "prime256v1" });
  return generateKeyPairSync("rsa", { modulusLength: kind === "rsa" ? 2048 : 1024 });
}

function algorithmOf({ asymmetricKeyType }: KeyObject): Buffer {
  if (asymmetricKeyType === "ed25519") return sequence(oid("2b6570"));
  if (asymmetricKeyType === "ec") return sequence(oid("2a8648ce3d040302"));
  return sequence(oid("2a864886f70d01010b"), tagged(0x05));
}

function tagged(tag: number, ...content: readonly Uint8Array[]): Buffer {
  const body = Buffer.concat(content);
  const length = body.length < 128 ? [body.length] : [0x82, body.length >> 8, body.length & 255];
  return Buffer.concat([Buffer.from([tag, ...length]), body]);
}

const sequence = (...content: readonly Uint8Array[]) => tagged(0x30, ...content);
const integer = (bytes: Uint8Array) => tagged(0x02, bytes);
const boolean = (value: boolean) => tagged(0x01, Buffer.from([value ? 255 : 0]));
const oid = (hex: string) => tagged(0x06, Buffer.from(hex, "hex"));
const extension = (id: string, value: Buffer) => sequence(oid(id), tagged(0x04, value));
const nameOf = (text: string) => sequence(tagged(0x31, sequence(oid("550403"), tagged(0x0c, Buffer.from(text)))));
const utcTime = (time: Date) =>
  tagged(
    0x17,
    Buffer.from(
      `${time
        .toISOString()
        .replace(/[-T:]|\.\d+/g, "")
        .slice(2)}`,
    ),
  );
const alternativeNames = sequence(tagged(0x82, Buffer.from("localhost")), tagged(0x87, Buffer.from([127, 0, 0, 1])));
