/** The thread for DTLS handshakes (RFC 5764). The server is always the DTLS server, `a=setup:passive`. */
import { X509Certificate } from 'node:crypto';
import { parentPort } from 'node:worker_threads';
import {
  CipherContext,
  type DtlsServer as Server,
  DtlsServer,
  HashAlgorithm,
  NamedCurveAlgorithm,
  ProtectionProfileAeadAes128Gcm,
  ProtectionProfileAes128CmHmacSha1_80,
  SignatureAlgorithm,
} from 'werift';
import type { SrtpSuiteName } from '../../../sip-facts/index.ts';
import { provesPossession } from './certificate-proof.ts';
import { closesSession, isAlert } from './closing-alert.ts';
import { fingerprintOf } from './fingerprint.ts';
import type { DtlsKeys, FromDtls, ToDtls } from './messages.ts';

const SUITES: ReadonlyMap<number, { readonly suite: SrtpSuiteName; readonly saltOctets: number }> = new Map([
  [ProtectionProfileAes128CmHmacSha1_80, { suite: 'AES_CM_128_HMAC_SHA1_80', saltOctets: 14 }],
  [ProtectionProfileAeadAes128Gcm, { suite: 'AEAD_AES_128_GCM', saltOctets: 12 }],
]);

const KEY_OCTETS = 16;

/** One handshake: what comes from the far end goes in by `transport.onData`. */
interface Handshake {
  readonly server: Server;
  readonly transport: { onData(data: Buffer, from: readonly [string, number]): void };
  /** Of the keys that it has made: a second handshake on the same path does not replace it. */
  cipher: CipherContext | undefined;
}

const handshakes = new Map<number, Handshake>();
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread's port, not a window
const tell = (message: FromDtls): void => parentPort?.postMessage(message);

const own = await CipherContext.createSelfSignedCertificateWithKey(
  { signature: SignatureAlgorithm.ecdsa_3, hash: HashAlgorithm.sha256_4 },
  NamedCurveAlgorithm.secp256r1_23,
);

parentPort?.on('message', (message: ToDtls) => {
  if (message.type === 'open') handshakes.set(message.id, open(message.id));
  else if (message.type === 'close') handshakes.delete(message.id);
  else receive(message.id, Buffer.from(message.data));
});
tell({ type: 'ready', fingerprint: fingerprintOf(new X509Certificate(own.certPem).raw) });

function open(id: number): Handshake {
  const transport = {
    type: 'udp',
    closed: false,
    address: { address: '', family: 'IPv4', port: 0 },
    onData: (): void => undefined,
    send: (data: Buffer): Promise<void> => {
      tell({ type: 'data', id, data });
      return Promise.resolve();
    },
    close: (): Promise<void> => Promise.resolve(),
  };
  const server = new DtlsServer({
    cert: own.certPem,
    key: own.keyPem,
    signatureHash: own.signatureHash,
    transport,
    srtpProfiles: [ProtectionProfileAes128CmHmacSha1_80, ProtectionProfileAeadAes128Gcm],
    extendedMasterSecret: true,
    certificateRequest: true,
  });
  const handshake: Handshake = { server, transport, cipher: undefined };
  server.onConnect.subscribe(() => finished(id, handshake));
  server.onError.subscribe((error) => tell({ type: 'failed', id, reason: String(error) }));
  return handshake;
}

function receive(id: number, data: Buffer): void {
  const handshake = handshakes.get(id);
  // Before the keys an alert is nobody's in particular: it must not end a call.
  if (isAlert(data)) {
    if (handshake?.cipher !== undefined && closesSession(handshake.cipher, data)) tell({ type: 'closed', id });
    return;
  }
  try {
    handshake?.transport.onData(data, ['', 0]);
  } catch {
    // A datagram that the library cannot parse is dropped.
  }
}

function finished(id: number, handshake: Handshake): void {
  if (handshake.cipher !== undefined) return;
  const keys = keysOf(handshake.server);
  if (typeof keys !== 'string') handshake.cipher = handshake.server.cipher;
  if (typeof keys === 'string') tell({ type: 'failed', id, reason: keys });
  else tell({ type: 'keys', id, keys });
}

/** The keys, or why the handshake is not accepted. */
function keysOf(server: Server): DtlsKeys | string {
  const { srtpProfile } = server.srtp;
  const chosen = srtpProfile === undefined ? undefined : SUITES.get(srtpProfile);
  if (chosen === undefined) return 'no common SRTP profile';
  // Without it the keys would not depend on the certificates (RFC 7627).
  if (!server.dtls.remoteExtendedMasterSecret) return 'no extended master secret';
  const { remoteCertificate } = server;
  if (remoteCertificate === undefined) return 'no certificate';
  if (!provesPossession(remoteCertificate, server.dtls.sortedHandshakeCache)) {
    return 'the far end does not prove that it has the key of its certificate';
  }
  const { localKey, localSalt, remoteKey, remoteSalt } = server.extractSessionKeys(KEY_OCTETS, chosen.saltOctets);
  return {
    suite: chosen.suite,
    local: Buffer.concat([localKey, localSalt]),
    remote: Buffer.concat([remoteKey, remoteSalt]),
    certificate: remoteCertificate,
  };
}
