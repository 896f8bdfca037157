import { expect } from 'chai';
import { asDomainName } from '../../runtime/domain-name/index.ts';
import { MemoryVoicemail } from '../../runtime/runs/index.ts';
import { problems } from '../support/scenarios.ts';
import { play } from './support.ts';

describe('component mailbox', () => {
  it('counts the messages of an empty mailbox', async () => {
    const counted = await play(`
      mailbox: "102"
      next: end`);
    expect(counted.exit).to.equal('next');
    expect(counted.result).to.include({ new: 0, old: 0 });
  });

  it('has no message left at the end', async () => {
    const found = await play(`
      mailbox: { mailbox: "102", action: next }
      exits: { next: end, empty: end }`);
    expect(found.exit).to.equal('empty');
  });

  it('refuses a recording that is not there', async () => {
    const refused = await play(`
      mailbox: { mailbox: "102", action: deposit, recording: "recording:none.wav" }
      exits: { next: end, error: end }`);
    expect(refused.exit).to.equal('error');
  });

  for (const [action, needed] of [
    ['deposit', 'recording'],
    ['heard', 'message'],
    ['delete', 'message'],
  ] as const)
    it(`needs ${needed} to ${action}`, () => {
      const found = problems(`
id: t
start: it
blocks:
  it: { mailbox: { mailbox: "102", action: ${action} }, next: end }`);
      expect(found.join()).to.include(`needs the setting \`${needed}\``);
    });

  it('keeps no recording without the action deposit', () => {
    const found = problems(`
id: t
start: it
blocks:
  it: { mailbox: { mailbox: "102", recording: "recording:a.wav" }, next: end }`);
    expect(found.join()).to.include('the setting `recording` is for `action: deposit`, this is `action: count`');
  });
});

describe('mailboxes in memory', () => {
  it('have new messages first, the oldest first among each', async () => {
    const domain = asDomainName('demo.local');
    let now = 0;
    const voicemail = new MemoryVoicemail(() => (now += 1));
    const leave = (number: string) =>
      voicemail.deposit(domain, '102', { number, name: '', file: 'f', milliseconds: 1 });
    const [first] = [await leave('1'), await leave('2'), await leave('3')];
    expect(await voicemail.mark(domain, '102', first, true)).to.equal(true);
    expect((await voicemail.list(domain, '102')).map(({ number }) => number)).to.deep.equal(['2', '3', '1']);
    expect(await voicemail.remove(domain, '102', first)).to.equal(true);
    expect(await voicemail.remove(domain, '102', first)).to.equal(false);
    expect((await voicemail.list(domain, '102')).map(({ number }) => number)).to.deep.equal(['2', '3']);
  });
});
