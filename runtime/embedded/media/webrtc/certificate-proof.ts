/** The far end's proof that it has the key of its certificate. */
import { constants, verify, X509Certificate } from 'node:crypto';

/** One handshake message as the transcript has it. */
export interface HandshakeMessage {
  readonly msg_type: number;
  readonly fragment: Buffer;
  serialize(): Buffer;
}

const CERTIFICATE_VERIFY = 15;
const FINISHED = 20;

/** Hash of a signature scheme (RFC 8446 section 4.2.3); those with SHA-1 are left out. */
const HASHES: ReadonlyMap<number, string> = new Map([
  [0x0401, 'sha256'],
  [0x0403, 'sha256'],
  [0x0501, 'sha384'],
  [0x0503, 'sha384'],
  [0x0601, 'sha512'],
  [0x0603, 'sha512'],
  [0x0804, 'sha256'],
  [0x0805, 'sha384'],
  [0x0806, 'sha512'],
]);

/** Schemes of RSASSA-PSS. */
const PSS = new Set([0x0804, 0x0805, 0x0806]);

/**
 * Whether the signature in CertificateVerify is by the key of the certificate, over all messages before (RFC 5246 section 7.4.8).
 * werift 0.25 does not check it, and a certificate is no secret: without the check, anybody on the path could show the right
 * fingerprint.
 * @param certificate DER
 * @param messages the handshake, in order
 */
export function provesPossession(certificate: Buffer, messages: readonly HandshakeMessage[]): boolean {
  const proof = messages.find(({ msg_type: type }) => type === CERTIFICATE_VERIFY);
  if (proof === undefined || proof.fragment.length < 4) return false;
  const scheme = proof.fragment.readUInt16BE(0);
  const hash = HASHES.get(scheme);
  const signature = proof.fragment.subarray(4);
  if (hash === undefined || signature.length !== proof.fragment.readUInt16BE(2)) return false;
  const before = messages.filter(({ msg_type: type }) => type !== CERTIFICATE_VERIFY && type !== FINISHED);
  const transcript = Buffer.concat(before.map((message) => message.serialize()));
  try {
    const key = new X509Certificate(certificate).publicKey;
    const padding = PSS.has(scheme) ? { padding: constants.RSA_PKCS1_PSS_PADDING } : {};
    return verify(hash, transcript, { key, ...padding }, signature);
  } catch {
    return false; // an unreadable certificate, or a scheme of another kind of key
  }
}
