import { expect } from 'chai';
import { eventually } from '../support/eventually.ts';
import { hostileScenarios } from '../support/hostile-scenarios.ts';
import { useStage } from '../support/stage.ts';

const SCRIPTS = '/rest/v1/domain/svcscripts';
const HOOKS = '/rest/v1/api/hooks';
/** Concurrent hostile runs. */
const AT_ONCE = 4;
/** test/sandbox covers the language; these are samples of it, and all cases that need a node. */
const EVERY = 15;

describe('hostile scenarios beside a call', () => {
  const stage = useStage({ ownNode: true });

  it('fail with an error that gives the reason, and the call goes on', async function () {
    this.timeout(90_000);
    const { outgoing, incoming } = await stage.connect(await stage.phone('alice'), await stage.phone('bob'), '102');
    const rest = await stage.rest();
    const all = hostileScenarios();
    const chosen = all.filter((_, index) => index % EVERY === 0 || index >= all.length - 24);
    const runnable: string[] = [];
    for (const { code, scriptdata } of chosen) {
      const stored = await rest.send('POST', SCRIPTS, { body: { code, scriptdata } });
      expect(stored.status, `${code} ${stored.text}`).to.equal(200);
      if (stored.json<{ problems: [] }>().problems.length === 0) runnable.push(code);
    }
    outgoing.play(440);
    const strange: string[] = [];
    const attack = async (): Promise<void> => {
      for (let code = runnable.pop(); code !== undefined; code = runnable.pop()) {
        const answer = await rest.send('POST', `${HOOKS}/${code}?wait=5`, { body: {} });
        // A run that continues is within its minute for cleaning up.
        const ended = answer.status === 202 || answer.status === 200 || answer.status === 422;
        if (!ended) strange.push(`${code}: ${answer.status} ${answer.text}`);
        await incoming.hears(440);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, attack));
    expect(strange).to.deep.equal([]);
    await incoming.hears(440);
    expect(await stage.dialog()).to.have.property('status', 'dialog');
    // A well-behaved scenario runs as before.
    const scriptdata = { format: 'js', source: 'export default async (call, args) => args.a + 1;' };
    await rest.send('POST', SCRIPTS, { body: { code: 'sum', scriptdata } });
    await eventually(async () => {
      expect((await rest.send('POST', `${HOOKS}/sum`, { body: { a: 1 } })).text).to.equal('2');
    });
    await outgoing.hangup();
    await incoming.ended();
  });
});
