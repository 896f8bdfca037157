import { expect } from 'chai';
import { NO_PASSWORD, hashPassword, verifyPassword } from '../../runtime/iam/password.ts';

describe('password hash', () => {
  it('matches the right password only', async () => {
    const stored = await hashPassword('pässword ✓');
    expect(stored).to.match(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/);
    expect(await verifyPassword('pässword ✓', stored)).to.equal(true);
    for (const wrong of ['', 'pässword ✗', 'Pässword ✓', 'pässword ✓ '])
      expect(await verifyPassword(wrong, stored)).to.equal(false);
  });

  it('differs each time', async () => {
    expect(await hashPassword('same')).not.to.equal(await hashPassword('same'));
  });

  // Vector made with the reference implementation: echo -n password | argon2 somesalt -id -t 2 -m 16 -p 1 -l 32
  it('agrees with the reference implementation', async () => {
    const reference = '$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc';
    expect(await verifyPassword('password', reference)).to.equal(true);
    expect(await verifyPassword('passwore', reference)).to.equal(false);
  });

  it('has a dummy hash for unknown users that no password matches', async () => {
    expect(await verifyPassword('', NO_PASSWORD)).to.equal(false);
  });

  it('does not block the event loop', async () => {
    let longest = 0;
    let last = performance.now();
    const timer = setInterval(() => {
      longest = Math.max(longest, performance.now() - last);
      last = performance.now();
    }, 1);
    const started = performance.now();
    await Promise.all(Array.from({ length: 16 }, () => hashPassword('x')));
    const took = performance.now() - started;
    clearInterval(timer);
    expect(longest).to.be.lessThan(took / 2);
  });
});
