import { expect } from 'chai';
import { scriptProcessesOf } from '../support/children.ts';
import { eventually } from '../support/eventually.ts';
import { useStage } from '../support/stage.ts';

const IVR = '/rest/v1/domain/ivrscripts';

const THINKING = `export const limits = { cpu: '60s', activation: '5s' };
export const fallback = 'sorry';
export default async function (call) {
  await call.answer();
  log('thinking');
  await call.info();
  for (let n = 0; n < 1e12; n++);
}
`;
const SORRY = `start: sorry
blocks:
  sorry: { play: "tone:%(60000,0,700)", next: end }
`;

describe('a call whose script process dies', () => {
  const stage = useStage({ ownNode: true });

  it('stays up and continues with the fallback; the log names the process', async () => {
    const rest = await stage.rest();
    const scripts = { thinking: { format: 'ts', source: THINKING }, sorry: { format: 'yaml', source: SORRY } };
    for (const [code, scriptdata] of Object.entries(scripts).toReversed()) {
      const made = await rest.send('POST', IVR, { body: { code, scriptdata } });
      expect(made.json<{ problems: readonly object[] }>().problems).to.deep.equal([]);
    }
    const call = await (await stage.phone('alice')).call('*55thinking');
    await call.answered();
    await eventually(async () => expect(stage.node.output).to.include('"text":"thinking"'));
    for (const pid of scriptProcessesOf(stage.node.pid ?? 0)) process.kill(pid, 'SIGKILL');
    await call.hears(700);
    expect(stage.node.output).to.include('a sandbox process is gone');
    await call.hangup();
  });
});
