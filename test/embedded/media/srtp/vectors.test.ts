import { expect } from 'chai';
import { CounterMode } from '../../../../runtime/embedded/media/srtp/counter-mode.ts';
import { sessionKeys } from '../../../../runtime/embedded/media/srtp/derive.ts';
import { Gcm } from '../../../../runtime/embedded/media/srtp/gcm.ts';
import { HmacSha1 } from '../../../../runtime/embedded/media/srtp/hmac-sha1.ts';
import { KeyStream } from '../../../../runtime/embedded/media/srtp/key-stream.ts';
import type { Transform } from '../../../../runtime/embedded/media/srtp/transform.ts';

const hex = (text: string): Buffer => Buffer.from(text.replaceAll(' ', ''), 'hex');

/** Seals with room for the tag, and opens again. */
function sealed(plain: Buffer, seal: (packet: Buffer) => number): Buffer {
  const packet = Buffer.concat([plain, Buffer.alloc(20)]);
  return packet.subarray(0, seal(packet));
}

const MASTER = hex('E1F97A0D3E018BE0D64FA32C06DE4139 0EC675AD498AFEEBB6960B3AABE6');

describe('SRTP: test vectors', () => {
  it('the key stream of RFC 3711 appendix B.2', () => {
    const stream = new KeyStream(hex('2B7E151628AED2A6ABF7158809CF4F3C'), hex('F0F1F2F3F4F5F6F7F8F9FAFBFCFD'));
    const octets = Buffer.alloc(0xff02 * 16);
    stream.apply(octets, 0, octets.length, 0, 0);
    expect(octets.subarray(0, 48).toString('hex')).to.equal(
      'e03ead0935c95e80e166b16dd92b4eb4d23513162b02d0f72a43a2fe4a5f97ab41e95b3bb0a2e8dd477901e4fca894c0',
    );
    expect(octets.subarray(0xfeff * 16, 0xff02 * 16).toString('hex')).to.equal(
      'ec8cdf7398607cb0f2d21675ea9ea1e4362b7c3c6773516318a077d7fc5073ae6a2cc3787889374fbeb4c81b17ba6c44',
    );
  });

  it('the session keys of RFC 3711 appendix B.3', () => {
    const { encryption, salt, authentication } = sessionKeys('AES_CM_128_HMAC_SHA1_80', MASTER, 'rtp');
    expect(encryption.toString('hex')).to.equal('c61e7a93744f39ee10734afe3ff7a087');
    expect(salt.toString('hex')).to.equal('30cbbc08863d8c85d49db34a9ae1');
    expect(authentication.toString('hex')).to.equal('cebe321f6ff7716b6fd4ab49af256a156d38baa4');
  });

  it('HMAC-SHA1 of RFC 2202, case 2', () => {
    const digest = new HmacSha1(Buffer.from('Jefe')).digest(
      Buffer.from('what do ya want '),
      Buffer.from('for nothing?'),
    );
    expect(digest.toString('hex')).to.equal('effcdf6ae5eb2fa2d27416d5f184df9c259a7c79');
  });

  const counterMode = (): Transform =>
    new CounterMode(
      sessionKeys('AES_CM_128_HMAC_SHA1_80', MASTER, 'rtp'),
      sessionKeys('AES_CM_128_HMAC_SHA1_80', MASTER, 'rtcp'),
    );
  const gcm = (): Transform => {
    const keys = {
      encryption: hex('000102030405060708090a0b0c0d0e0f'),
      authentication: Buffer.alloc(0),
      salt: hex('517569642070726f2071756f'),
    };
    return new Gcm(keys, keys);
  };

  it('an RTP packet of libsrtp with AES_CM_128_HMAC_SHA1_80', () => {
    const plain = hex('800f1234decafbadcafebabe abababababababababababababababab');
    const packet = sealed(plain, (each) => counterMode().sealRtp(each, 12, plain.length, 0xcafebabe, 0x1234));
    expect(packet.toString('hex')).to.equal(
      '800f1234decafbadcafebabe4e55dc4ce79978d88ca4d215949d2402b78d6acc99ea179b8dbb',
    );
    expect(counterMode().openRtp(packet, 12, 0xcafebabe, 0x1234)).to.equal(plain.length);
    expect(packet.subarray(0, plain.length)).to.deep.equal(plain);
  });

  it('an RTCP packet of libsrtp with AES_CM_128_HMAC_SHA1_80', () => {
    const plain = hex('81c8000bcafebabe abababababababababababababababab');
    const packet = sealed(plain, (each) => counterMode().sealRtcp(each, plain.length, 0xcafebabe, 1));
    expect(packet.toString('hex')).to.equal(
      '81c8000bcafebabe7128035be487b9bdbef89041f977a5a880000001993e08cd54d6c1230798',
    );
    expect(counterMode().rtcpIndex(packet)).to.equal(0x80000001);
    expect(counterMode().openRtcp(packet, 0xcafebabe)).to.equal(plain.length);
    expect(packet.subarray(0, plain.length)).to.deep.equal(plain);
  });

  it('the RTP packet of RFC 7714 section 16.1.1 with AEAD_AES_128_GCM', () => {
    const plain = hex(
      '8040f17b8041f8d35501a0b2 47616c6c696120657374206f6d6e69732064697669736120696e207061727465732074726573',
    );
    const packet = sealed(plain, (each) => gcm().sealRtp(each, 12, plain.length, 0x5501a0b2, 0xf17b));
    expect(packet.toString('hex')).to.equal(
      '8040f17b8041f8d35501a0b2f24de3a3fb34de6cacba861c9d7e4bcabe633bd50d294e6f42a5f47a51c7d19b36de3adf8833' +
        '899d7f27beb16a9152cf765ee4390cce',
    );
    expect(gcm().openRtp(packet, 12, 0x5501a0b2, 0xf17b)).to.equal(plain.length);
    expect(packet.subarray(0, plain.length)).to.deep.equal(plain);
  });

  it('the RTCP packet of RFC 7714 section 17.1 with AEAD_AES_128_GCM', () => {
    const plain = hex(
      '81c8000d4d617273 4e5450314e54503252545020 0000042a0000e930 4c756e61deadbeefdeadbeefdeadbeefdeadbeefdeadbeef',
    );
    const packet = sealed(plain, (each) => gcm().sealRtcp(each, plain.length, 0x4d617273, 0x5d4));
    expect(packet.toString('hex')).to.equal(
      '81c8000d4d61727363e94885dcdab67ca727d7662f6b7e997ff5c0f76c06f32dc676a5f1730d6fda4ce09b4686303ded' +
        '0bb9275bc84aa45896cf4d2fc5abf87245d9eade800005d4',
    );
    expect(gcm().openRtcp(packet, 0x4d617273)).to.equal(plain.length);
    expect(packet.subarray(0, plain.length)).to.deep.equal(plain);
  });
});
