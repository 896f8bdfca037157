import process from 'node:process';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { type Birth, Nursery, programRunner } from '../../runtime/processes/index.ts';
import { childrenOf } from '../support/children.ts';
import { eventually } from '../support/eventually.ts';

/** Waits for a line that never comes. */
const WAITS = { program: '/bin/sh', args: ['-c', 'read -r go; read -r more'] };
const UNHEARD: Birth = {
  started: () => undefined,
  words: () => undefined,
  gone: () => undefined,
  orphaned: () => undefined,
};

describe('a closed nursery', () => {
  it('ends even when it was closed while it started, with an order on its way', async () => {
    const before = new Set(childrenOf(process.pid));
    for (const milliseconds of [0, 0, 5, 20, 40]) {
      const nursery = new Nursery();
      nursery.start(WAITS, UNHEARD);
      await delay(milliseconds);
      nursery.close();
    }
    await eventually(async () => {
      expect(childrenOf(process.pid).filter((pid) => !before.has(pid))).to.deep.equal([]);
    }, 15_000);
  });

  it('starts no process, and reports that', async () => {
    for (const opened of [false, true]) {
      const before = childrenOf(process.pid);
      const nursery = new Nursery();
      if (opened) nursery.open();
      nursery.close();
      nursery.open();
      const reason = Promise.withResolvers<string>();
      const kill = nursery.start(WAITS, { ...UNHEARD, gone: (why, ok) => reason.resolve(`${why}, ${ok}`) });
      kill();
      expect(await reason.promise).to.equal('was not started: its nursery is closed, false');
      await eventually(async () => expect(childrenOf(process.pid)).to.deep.equal(before), 15_000);
    }
  });

  it('runs no program', async () => {
    const nursery = new Nursery();
    const run = programRunner(nursery);
    nursery.close();
    const work = { program: 'cat', args: [], input: 'text', maxBytes: 10, timeoutMs: 10_000 };
    expect(await run(work, new AbortController().signal)).to.equal(undefined);
  });
});
