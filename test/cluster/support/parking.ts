/** Scenarios that park and retrieve, and what phones hear from them. */
import { expect } from 'chai';
import type { OutgoingCall } from '../../phones/outgoing-call.ts';
import type { Phone } from '../../phones/phone.ts';
import { eventually } from '../../support/eventually.ts';
import type { TestCluster } from './test-cluster.ts';

/** What a parked party hears, and who asks for a slot where nobody waits, in Hertz. */
export const MUSIC = 1500;
export const TAKEN = 1000;
export const NOBODY = 700;

const lot = (slot: string) => `
start: pick_up
blocks:
  pick_up: { answer: , next: wait }
  wait:
    park: { slot: "${slot}", timeout: 10m, sounds: "tone:%(500,0,${MUSIC})" }
    exits: { timeout: end, error: taken }
  taken: { play: "tone:%(3000,0,${TAKEN})", next: end }
`;

const out = (slot: string) => `
start: pick_up
blocks:
  pick_up: { answer: , next: get }
  get:
    retrieve: "${slot}"
    exits: { unknown: nobody, empty: end }
  nobody: { play: "tone:%(3000,0,${NOBODY})", next: end }
`;

const SCENARIOS = {
  lot: lot('709'),
  lot708: lot('708'),
  anywhere: `
start: pick_up
blocks:
  pick_up: { answer: , next: wait }
  wait:
    park: { timeout: 60s, sounds: "tone:%(500,0,${MUSIC})" }
    exits: { timeout: end }
`,
  out: out('709'),
  out708: out('708'),
};

/** Writes the scenarios, and waits until each node has them. */
export async function writeParkingScenarios(cluster: TestCluster): Promise<void> {
  for (const [code, source] of Object.entries(SCENARIOS)) {
    const body = { code: `parked_${code}`, name: code, scriptdata: { format: 'yaml', source } };
    const made = await cluster.node(0).rest.send('POST', '/rest/v1/domain/ivrscripts', { body });
    expect(made.status, made.text).to.equal(200);
  }
  await eventually(async () => {
    for (const { rest } of cluster.nodes) {
      const codes = (await rest.get('/rest/v1/domain/ivrscripts')).json<{ code: string }[]>().map(({ code }) => code);
      expect(codes).to.include.members(Object.keys(SCENARIOS).map((code) => `parked_${code}`));
    }
  });
}

export async function removeParkingScenarios(cluster: TestCluster): Promise<void> {
  const { rest } = cluster.node(0);
  const scripts = (await rest.get('/rest/v1/domain/ivrscripts')).json<{ id: string; code: string }[]>();
  for (const { id, code } of scripts)
    if (code.startsWith('parked_')) await rest.send('DELETE', `/rest/v1/domain/ivrscripts/${id}`);
}

/** A call that waits in a slot. @param code `lot`: in 709; `lot708`: in 708; `anywhere`: in a free one */
export async function parks(phone: Phone, code: 'lot' | 'lot708' | 'anywhere'): Promise<OutgoingCall> {
  const call = await phone.call(`*55parked_${code}`);
  await call.answered();
  await call.hears(MUSIC);
  return call;
}

/** Asks for slot 709, or 708. */
export async function retrieves(phone: Phone, code: 'out' | 'out708' = 'out'): Promise<OutgoingCall> {
  const call = await phone.call(`*55parked_${code}`);
  await call.answered();
  return call;
}
