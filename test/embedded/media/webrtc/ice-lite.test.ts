import { createHmac } from 'node:crypto';
import { expect } from 'chai';
import { parseMessage } from 'werift';
import { IceLite } from '../../../../runtime/embedded/media/webrtc/ice-lite.ts';

const FROM = { address: '192.0.2.7', port: 40_000 };

/** A binding request as RFC 8445 section 7.1 has it. */
function check(username: string, password: string, more: readonly (readonly [number, Buffer])[] = []): Buffer {
  const attributes = ([[0x0006, Buffer.from(username)], ...more] as const).map(([type, value]) => {
    const padded = Buffer.alloc(4 + Math.ceil(value.length / 4) * 4);
    padded.writeUInt16BE(type, 0);
    padded.writeUInt16BE(value.length, 2);
    value.copy(padded, 4);
    return padded;
  });
  const body = Buffer.concat(attributes);
  const head = Buffer.from('000100002112a442', 'hex');
  head.writeUInt16BE(body.length + 24, 2);
  const covered = Buffer.concat([head, Buffer.alloc(12, 7), body]);
  const integrity = createHmac('sha1', password).update(covered).digest();
  return Buffer.concat([covered, Buffer.from('00080014', 'hex'), integrity]);
}

describe('ICE of the media server', () => {
  const ice = new IceLite();
  const username = `${ice.ufrag}:abcd`;

  it('answers an authentic check, and another implementation reads the answer', () => {
    const checked = ice.check(check(username, ice.password), FROM);
    expect(checked?.nominated).to.equal(false);
    const message = parseMessage(checked?.answer ?? Buffer.of(), Buffer.from(ice.password));
    expect(message?.getAttributeValue('XOR-MAPPED-ADDRESS')).to.deep.equal(['192.0.2.7', 40_000]);
  });

  it('answers over IPv6', () => {
    const checked = ice.check(check(username, ice.password), { address: '2001:db8::7:0:9', port: 40_000 });
    const message = parseMessage(checked?.answer ?? Buffer.of(), Buffer.from(ice.password));
    expect(message?.getAttributeValue('XOR-MAPPED-ADDRESS')).to.deep.equal(['2001:db8::7:0:9', 40_000]);
  });

  it('notices the nomination of a path', () => {
    expect(ice.check(check(username, ice.password, [[0x0025, Buffer.of()]]), FROM)?.nominated).to.equal(true);
  });

  it('drops checks with another password or name, and spoilt ones', () => {
    expect(ice.check(check(username, 'guessed'), FROM)).to.equal(undefined);
    expect(ice.check(check('other:abcd', ice.password), FROM)).to.equal(undefined);
    const right = check(username, ice.password);
    for (let at = 0; at < right.length; at += 1) {
      const spoilt = Buffer.from(right);
      spoilt[at] = (spoilt[at] as number) ^ 0x40;
      expect(ice.check(spoilt, FROM), `octet ${at}`).to.equal(undefined);
      expect(ice.check(right.subarray(0, at), FROM), `${at} octets`).to.equal(undefined);
    }
  });
});
