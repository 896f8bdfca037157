import { expect } from 'chai';
import { ContactUsers } from '../../../runtime/switch/esg/contact-users.ts';

describe('the user part of a Contact at a provider', () => {
  const key = (fill: number) => () => new Uint8Array(32).fill(fill);

  it('is recognised by every node with the same secret, as that of its provider only', () => {
    const [one, other, stranger] = [new ContactUsers(key(1)), new ContactUsers(key(1)), new ContactUsers(key(2))];
    const user = one.fresh('acme');
    expect([one.isOf(user, 'acme'), other.isOf(user, 'acme')]).to.deep.equal([true, true]);
    expect([other.isOf(user, 'other'), stranger.isOf(user, 'acme')]).to.deep.equal([false, false]);
    expect(one.fresh('acme'), 'each is another one').not.to.equal(user);
  });

  it('is no number, and nothing that somebody has changed', () => {
    const users = new ContactUsers();
    const user = users.fresh('acme');
    const changed = user.replace(/.$/, (last) => (last === '0' ? '1' : '0'));
    for (const each of ['', '100', '0030123456', changed, user.slice(1), `${user}0`])
      expect(users.isOf(each, 'acme'), each).to.equal(false);
    expect(users.isOf(user, 'acme')).to.equal(true);
  });
});
