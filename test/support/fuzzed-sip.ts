import { Random } from '../model/support/random.ts';
import { authorization, type Challenge } from '../phones/sip/digest.ts';

const SDP =
  'v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\nc=IN IP4 127.0.0.1\r\nt=0 0\r\nm=audio 20000 RTP/AVP 0 8 101\r\na=rtpmap:101 telephone-event/8000\r\na=fmtp:101 0-16\r\na=sendrecv\r\n';
const BODY = ['Content-Type: application/sdp'];
/** Request-URI, headers and body by method, from which the messages are made. */
const REQUESTS: readonly (readonly [method: string, headers: readonly string[], body?: string])[] = [
  ['REGISTER', ['Expires: 60', 'Allow-Events: talk, hold']],
  ['REGISTER', ['Expires: 60', 'Path: <sip:p;lr>', 'Supported: path, outbound']],
  ['INVITE', [...BODY, 'Supported: timer, 100rel', 'Session-Expires: 90;refresher=uac', 'Min-SE: 90'], SDP],
  ['INVITE', [...BODY, 'Replaces: a@b;to-tag=1;from-tag=2', 'Require: replaces', 'Privacy: id'], SDP],
  ['INVITE', ['P-Asserted-Identity: "A" <sip:101@demo.local>', 'Diversion: <sip:9@x>;reason=busy']],
  ['OPTIONS', ['Require: x', 'Route: <sip:127.0.0.1;lr>', 'Record-Route: <sip:127.0.0.1;lr>']],
  ['MESSAGE', ['Content-Type: text/plain;charset="utf-8"'], 'hello'],
  // A fetch: without answers to its NOTIFY a subscription would end after half a minute only.
  ['SUBSCRIBE', ['Event: presence;id=1', 'Expires: 0', 'Accept: application/pidf+xml']],
  ['REFER', ['Refer-To: <sip:103@demo.local?Replaces=a%40b%3Bto-tag%3D1%3Bfrom-tag%3D2>', 'Referred-By: <sip:a@b>']],
  ['UPDATE', BODY, SDP],
  ['INFO', ['Content-Type: application/dtmf-relay'], 'Signal=1\r\nDuration=100\r\n'],
  ['NOTIFY', ['Event: refer', 'Subscription-State: active', 'Content-Type: message/sipfrag'], 'SIP/2.0 200 OK\r\n'],
  ['ACK', []],
  ['BYE', ['Reason: Q.850;cause=16']],
  ['CANCEL', []],
  ['PRACK', ['RAck: 1 7 INVITE']],
  ['NOSUCH', []],
];
const RESPONSES = ['100 Trying', '180 Ringing', '200 OK', '302 Moved', '401 Unauthorized', '503 No', '999 What'];
const PIECES = [
  '\r\n',
  '\r\n\r\n',
  '\r\n ',
  '\n',
  ':',
  ';',
  ',',
  '"',
  '<',
  '>',
  '\\',
  '=',
  '\0',
  '%',
  '@',
  '[',
  '-1',
  'é',
];

/** Messages of phones with mistakes; the same ones for the same seed. */
export class FuzzedSip {
  readonly #random: Random;
  readonly #challenge: Challenge | undefined;
  #count = 0;

  /** @param challenge of the realm demo.local: half of the requests answer it as carol, and pass the authentication */
  constructor(seed: number, challenge?: Challenge) {
    this.#random = new Random(seed);
    this.#challenge = challenge;
  }

  /** The next message, with one to four mistakes. */
  next(): Buffer {
    let bytes = Buffer.from(this.#valid());
    for (let left = 1 + this.#random.below(4); left > 0; left -= 1) bytes = this.#spoilt(bytes);
    return bytes;
  }

  /** A session description with mistakes. */
  sessionDescription(sdp: string): string {
    let bytes = Buffer.from(sdp);
    for (let left = 1 + this.#random.below(3); left > 0; left -= 1) bytes = this.#spoilt(bytes);
    return bytes.toString('latin1');
  }

  #valid(): string {
    this.#count += 1;
    if (this.#random.chance(0.1)) return this.#message(`SIP/2.0 ${this.#random.pick(RESPONSES)}`, 'INVITE', [], '');
    const [method, headers, body = ''] = this.#random.pick(REQUESTS);
    const uri = this.#random.pick([
      'sip:102@demo.local',
      'sip:demo.local',
      'sip:102@127.0.0.1',
      'sip:nobody@demo.local',
    ]);
    const known = this.#random.chance(0.5) ? this.#authorization(method, uri) : [];
    return this.#message(`${method} ${uri} SIP/2.0`, method, [...known, ...headers], body);
  }

  #message(start: string, method: string, headers: readonly string[], body: string): string {
    const lines = [
      start,
      `Via: SIP/2.0/UDP 127.0.0.1:9;rport;branch=z9hG4bK-fuzz-${this.#count}`,
      'Max-Forwards: 70',
      'From: "Carol" <sip:carol@demo.local>;tag=f1',
      'To: <sip:carol@demo.local>',
      `Call-ID: fuzz-${this.#count}@127.0.0.1`,
      `CSeq: 7 ${method}`,
      'Contact: "A, B" <sip:carol@127.0.0.1:9;transport=udp>;expires=60;q=0.5',
      ...headers,
      `Content-Length: ${Buffer.byteLength(body)}`,
    ];
    return `${lines.join('\r\n')}\r\n\r\n${body}`;
  }

  #authorization(method: string, uri: string): string[] {
    if (this.#challenge === undefined) return [];
    const name = method === 'REGISTER' ? 'Authorization' : 'Proxy-Authorization';
    const account = { challenge: this.#challenge, username: 'carol', password: 'demo-carol' };
    return [`${name}: ${authorization({ ...account, method, uri, nonceCount: this.#count + 1, cnonce: 'fuzz' })}`];
  }

  /** One mistake: in bytes, a line, or a length. */
  #spoilt(bytes: Buffer<ArrayBuffer>): Buffer<ArrayBuffer> {
    const at = this.#random.below(bytes.length + 1);
    const some = this.#random.below(12);
    const around = (put: Buffer): Buffer<ArrayBuffer> =>
      Buffer.concat([bytes.subarray(0, at), put, bytes.subarray(at + some)]);
    switch (this.#random.below(8)) {
      case 0:
        return bytes.subarray(0, Math.max(1, at));
      case 1:
        return around(Buffer.from(Array.from({ length: some }, () => this.#random.below(256))));
      case 2:
        return around(Buffer.from(this.#random.pick(PIECES)));
      case 3:
        return around(Buffer.from(this.#random.pick(PIECES).repeat(100 + this.#random.below(1500))));
      case 4: {
        const flipped = Buffer.from(bytes);
        if (at < flipped.length) flipped[at] = (flipped[at] ?? 0) ^ (1 << this.#random.below(8));
        return flipped;
      }
      case 5:
        return Buffer.from(
          bytes
            .toString('latin1')
            .replace(
              /^Content-Length: \d+/m,
              `Content-Length: ${this.#random.pick(['', '-1', '5', '99999', '1e3', 'x'])}`,
            ),
          'latin1',
        );
      default:
        return this.#otherLines(bytes);
    }
  }

  /** A line is missing, duplicated, moved, or without its value. */
  #otherLines(bytes: Buffer): Buffer<ArrayBuffer> {
    const lines = bytes.toString('latin1').split('\r\n');
    const [line = ''] = lines.splice(this.#random.below(lines.length), 1);
    const copies = this.#random.pick([
      [],
      [line, line],
      [line.replace(/:.*/, ':')],
      Array.from({ length: 60 }, () => line),
    ]);
    lines.splice(this.#random.below(lines.length + 1), 0, ...copies);
    return Buffer.from(lines.join('\r\n'), 'latin1');
  }
}
