/** Starts the hostile scripts of a node repeatedly, and sometimes kills its script processes: see attack.ts. */
import process from 'node:process';
import { setTimeout as delay } from 'node:timers/promises';
import { killProcess } from '../../../runtime/processes/kill-process.ts';
import { RestClient } from '../../phones/rest-client.ts';
import { scriptProcessesOf } from '../../support/children.ts';
import type { Attacked, AttackOrder } from './attack.ts';

const HOOKS = '/rest/v1/api/hooks';
/** Concurrent hostile runs. */
const AT_ONCE = 6;
const KILL_EVERY_MS = 2500;

async function attack({ base, token, codes, milliseconds, nodePid }: AttackOrder): Promise<Attacked> {
  const rest = new RestClient(base, token);
  const until = performance.now() + milliseconds;
  const result = { runs: 0, ended: 0, strange: [] as string[], killed: 0 };
  const start = async (): Promise<void> => {
    while (performance.now() < until) {
      const code = codes[Math.floor(Math.random() * codes.length)] ?? '';
      result.runs += 1;
      const answer = await rest.send('POST', `${HOOKS}/${code}?wait=15`, { body: {} });
      if ([200, 422].includes(answer.status)) result.ended += 1;
      else result.strange.push(`${code}: ${answer.status} ${answer.text.slice(0, 100)}`);
    }
  };
  const kill = async (): Promise<void> => {
    while (performance.now() < until) {
      await delay(KILL_EVERY_MS);
      const [pid] = scriptProcessesOf(nodePid);
      if (pid === undefined) continue;
      killProcess(pid, false);
      result.killed += 1;
    }
  };
  await Promise.all([...Array.from({ length: AT_ONCE }, start), kill()]);
  rest.close();
  return result;
}

process.on('message', (order: AttackOrder) => {
  void attack(order).then((result) => process.send?.(result));
});
process.once('disconnect', () => process.exit(0));
