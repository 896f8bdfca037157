import { expect } from 'chai';
import {
  CipherContext,
  DtlsClient,
  HashAlgorithm,
  NamedCurveAlgorithm,
  ProtectionProfileAeadAes128Gcm,
  ProtectionProfileAes128CmHmacSha1_80,
  SignatureAlgorithm,
  type SrtpProfile,
} from 'werift';
import { DtlsThread, type Handshake } from '../../../../runtime/embedded/media/webrtc/dtls-thread.ts';
import { fingerprintOf, hasFingerprint } from '../../../../runtime/embedded/media/webrtc/fingerprint.ts';
import type { DtlsKeys } from '../../../../runtime/embedded/media/webrtc/messages.ts';

const SIGNATURE = { signature: SignatureAlgorithm.ecdsa_3, hash: HashAlgorithm.sha256_4 };
const certificate = () => CipherContext.createSelfSignedCertificateWithKey(SIGNATURE, NamedCurveAlgorithm.secp256r1_23);

describe('DTLS handshakes of the media server', () => {
  const thread = new DtlsThread();
  before(async function () {
    this.timeout(20_000);
    await thread.fingerprint();
  });
  after(() => thread.close());

  /** A client with a certificate and a key; settles with what the server makes of it. */
  async function shakeHands(
    { cert, key }: { cert: string; key: string },
    srtpProfiles: SrtpProfile[],
  ): Promise<{ keys: DtlsKeys | undefined; reason: string | undefined; client: DtlsClient }> {
    const { promise, resolve } = Promise.withResolvers<{ keys?: DtlsKeys; reason?: string }>();
    let handshake: Handshake | undefined;
    const transport = {
      type: 'udp',
      closed: false,
      address: { address: '', family: 'IPv4', port: 0 },
      onData: (_data: Buffer, _from: readonly [string, number]): void => undefined,
      send: (data: Buffer): Promise<void> => {
        handshake?.receive(data);
        return Promise.resolve();
      },
      close: (): Promise<void> => Promise.resolve(),
    };
    handshake = thread.open({
      send: (data) => transport.onData(Buffer.from(data), ['', 0]),
      connected: (keys) => resolve({ keys }),
      failed: (reason) => resolve({ reason }),
      closed: () => undefined,
    });
    const options = { transport, cert, key, signatureHash: SIGNATURE, srtpProfiles, extendedMasterSecret: true };
    const client = new DtlsClient(options);
    client.onError.subscribe(() => undefined);
    void client.connect().catch(() => undefined);
    const { keys, reason } = await promise;
    handshake.close();
    return { keys, reason, client };
  }

  for (const [profile, suite, salt] of [
    [ProtectionProfileAes128CmHmacSha1_80, 'AES_CM_128_HMAC_SHA1_80', 14],
    [ProtectionProfileAeadAes128Gcm, 'AEAD_AES_128_GCM', 12],
  ] as const) {
    it(`make the keys of ${suite}, and show the far end's certificate`, async () => {
      const { certPem: cert, keyPem: key } = await certificate();
      const { keys, reason, client } = await shakeHands({ cert, key }, [profile]);
      expect(reason).to.equal(undefined);
      expect(keys?.suite).to.equal(suite);
      const theirs = client.extractSessionKeys(16, salt);
      expect(Buffer.from(keys?.remote ?? [])).to.deep.equal(Buffer.concat([theirs.localKey, theirs.localSalt]));
      expect(Buffer.from(keys?.local ?? [])).to.deep.equal(Buffer.concat([theirs.remoteKey, theirs.remoteSalt]));
      const value = fingerprintOf(client.cipher.localCert);
      expect(hasFingerprint(keys?.certificate ?? Buffer.of(), [{ hash: 'sha-256', value }])).to.equal(true);
      expect(hasFingerprint(Buffer.of(1), [{ hash: 'sha-256', value }])).to.equal(false);
    });
  }

  it('refuse a far end that shows a certificate whose key it does not have', async () => {
    const [victim, attacker] = [await certificate(), await certificate()];
    const { keys, reason } = await shakeHands({ cert: victim.certPem, key: attacker.keyPem }, [
      ProtectionProfileAes128CmHmacSha1_80,
    ]);
    expect(keys).to.equal(undefined);
    expect(reason).to.equal('the far end does not prove that it has the key of its certificate');
  });

  it('refuse a far end without a profile for SRTP', async () => {
    const { certPem: cert, keyPem: key } = await certificate();
    expect((await shakeHands({ cert, key }, [])).reason).to.equal('no common SRTP profile');
  });

  it('drop what is no handshake, and serve the next', async () => {
    const nothing = (): void => undefined;
    const junk = thread.open({ send: nothing, connected: nothing, failed: nothing, closed: nothing });
    for (let length = 0; length < 200; length += 7) junk.receive(Buffer.alloc(length, 22));
    junk.receive(Buffer.from('16feff0000000000000000000c0100000000ffff00ffff0000', 'hex'));
    const { certPem: cert, keyPem: key } = await certificate();
    const { keys } = await shakeHands({ cert, key }, [ProtectionProfileAes128CmHmacSha1_80]);
    expect(keys?.suite).to.equal('AES_CM_128_HMAC_SHA1_80');
    junk.close();
    expect(thread.size).to.equal(0);
  });
});
