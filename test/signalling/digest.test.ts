import { createHash } from 'node:crypto';
import { expect } from 'chai';
import { DigestAuthenticator } from '../../runtime/signalling/digest.ts';

const hash = (algorithm: string, text: string) => createHash(algorithm).update(text).digest('hex');
const SECRET = { md5: hash('md5', 'alice:demo.local:pw'), sha256: hash('sha256', 'alice:demo.local:pw') };
const ADDRESS = '192.0.2.1';
const secretOf = (login: string) => (login === 'alice' ? SECRET : undefined);

interface Answer {
  password?: string;
  nc?: string;
  algorithm?: 'MD5' | 'SHA-256';
  username?: string;
  qop?: boolean;
  method?: string;
}

function respond(
  challenge: string,
  {
    password = 'pw',
    nc = '00000001',
    algorithm = 'MD5',
    username = 'alice',
    qop = true,
    method = 'REGISTER',
  }: Answer = {},
): string {
  const nonce = /nonce="([^"]+)"/.exec(challenge)?.[1] ?? '';
  const name = algorithm === 'MD5' ? 'md5' : 'sha256';
  const ha1 = hash(name, `${username}:demo.local:${password}`);
  const ha2 = hash(name, `${method}:sip:demo.local`);
  const middle = qop ? `${nonce}:${nc}:c1:auth` : nonce;
  const response = hash(name, `${ha1}:${middle}:${ha2}`);
  const tail = qop ? `, qop=auth, nc=${nc}, cnonce="c1"` : '';
  return `Digest username="${username}", realm="demo.local", nonce="${nonce}", uri="sip:demo.local", response="${response}", algorithm=${algorithm}${tail}`;
}

describe('digest authentication of phones', () => {
  let now = 1_000_000;
  let digest: DigestAuthenticator;
  beforeEach(() => {
    now = 1_000_000;
    digest = new DigestAuthenticator(() => now);
  });
  const challenge = () => digest.challenge('demo.local', ADDRESS, false);
  const verify = (header: string | undefined) => digest.verify(header, 'REGISTER', 'demo.local', ADDRESS, secretOf);

  it('accepts the right password with MD5, with SHA-256, and without qop', () => {
    expect(verify(respond(challenge()))).to.deep.equal({ ok: true, username: 'alice' });
    expect(verify(respond(challenge(), { algorithm: 'SHA-256' })).ok).to.equal(true);
    expect(verify(respond(challenge(), { qop: false })).ok).to.equal(true);
  });

  it('refuses a wrong password, an unknown user, and an answer made for another method', () => {
    const wrong = [{ password: 'no' }, { username: 'mallory' }, { method: 'INVITE' }];
    for (const answer of wrong) {
      expect(verify(respond(challenge(), answer))).to.include({ ok: false, reason: 'wrong' });
    }
  });

  it('challenges a request without credentials for this realm', () => {
    expect(verify(undefined)).to.include({ reason: 'missing' });
    expect(verify('Digest username="alice", realm="other"')).to.include({ reason: 'missing' });
    expect(verify('Basic YTpi')).to.include({ reason: 'missing' });
  });

  it('accepts an answer once, and the next one with a higher count', () => {
    const given = challenge();
    expect(verify(respond(given)).ok).to.equal(true);
    expect(verify(respond(given))).to.include({ reason: 'stale' });
    expect(verify(respond(given, { nc: '00000002' })).ok).to.equal(true);
  });

  it('consumes no count without the password', () => {
    const given = challenge();
    expect(verify(respond(given, { password: 'no', nc: '0000ffff' }))).to.include({ reason: 'wrong' });
    expect(verify(respond(given)).ok).to.equal(true);
  });

  it('takes a spoilt repetition of an accepted answer for no wrong password', () => {
    const answer = respond(challenge());
    expect(verify(answer).ok).to.equal(true);
    expect(verify(answer.replace(/response="./, 'response="x'))).to.include({ reason: 'stale' });
  });

  it('refuses expired and foreign nonces', () => {
    const given = challenge();
    now += 301_000;
    expect(verify(respond(given))).to.include({ reason: 'stale' });
    expect(verify(respond('nonce="abc.def.ghi"'))).to.include({ reason: 'stale' });
  });

  it('refuses a nonce that was made for another address', () => {
    const answer = respond(digest.challenge('demo.local', '192.0.2.2', false));
    expect(verify(answer)).to.include({ reason: 'stale' });
  });

  it('refuses a used nonce whose count was dropped', function () {
    this.timeout(60_000);
    const first = challenge();
    expect(verify(respond(first)).ok).to.equal(true);
    now += 1;
    for (let other = 0; other < 50_000; other += 1) verify(respond(challenge()));
    expect(verify(respond(first))).to.include({ reason: 'stale' });
    expect(verify(respond(challenge())).ok).to.equal(true);
  });
});
