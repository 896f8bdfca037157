import { setTimeout as delay } from 'node:timers/promises';
import { RestClient } from '../phones/rest-client.ts';
import { TestNode } from '../support/node.ts';
import { percentile } from './support/percentile.ts';
import { RefusingPhone } from './support/refusing-phone.ts';
import type { Benchmark } from './support/report.ts';
import { ServerProcess } from './support/server-process.ts';

const REQUESTS = 100;
/** Requests before the measurement, so that the code is compiled and optimised. */
const WARM_UP = 30;
/** Milliseconds between two requests, so that the server is idle. */
const PAUSE_MS = 20;
const WITHIN_MS = 10_000;

/** Milliseconds from a REST request to the INVITE at the phone of X. */
export const rest: Benchmark = {
  title: `rest: POST /uc/calls with response_mode 0, ${REQUESTS} times, one at a time; X refuses`,
  async run(progress) {
    const phone = await RefusingPhone.open('alice');
    try {
      const node = await throughNode(phone, progress);
      const floor = await throughReference(phone, progress);
      return [0.5, 0.99].map((share) => ({
        what: `ms from the request to X's INVITE, p${share * 100}`,
        figure: percentile(node, share),
        floor: percentile(floor, share),
      }));
    } finally {
      await phone.close();
    }
  },
};

async function throughNode(phone: RefusingPhone, progress: (line: string) => void): Promise<number[]> {
  const node = await TestNode.start();
  try {
    await phone.register(node.sip);
    const client = await node.login('admin');
    const body = { from: '101', to: '102', response_mode: 0 };
    progress('through the node');
    return await measure(phone, client, '/rest/v1/uc/calls', body);
  } finally {
    await node.remove();
  }
}

async function throughReference(phone: RefusingPhone, progress: (line: string) => void): Promise<number[]> {
  const reference = await ServerProcess.reference();
  try {
    progress('floor');
    return await measure(phone, new RestClient(reference.base), '/call', { to: phone.contact });
  } finally {
    await reference.stop();
  }
}

async function measure(phone: RefusingPhone, client: RestClient, path: string, body: object): Promise<number[]> {
  const times: number[] = [];
  try {
    for (let request = 0; request < WARM_UP + REQUESTS; request += 1) {
      const sent = performance.now();
      const answered = client.send('POST', path, { body });
      const [arrived, answer] = await Promise.all([phone.invites.next(WITHIN_MS), answered]);
      if (answer.status >= 400) throw new Error(`${path}: ${answer.status} ${answer.text}`);
      if (request >= WARM_UP) times.push(arrived - sent);
      await delay(PAUSE_MS);
    }
  } finally {
    client.close();
  }
  return times;
}
