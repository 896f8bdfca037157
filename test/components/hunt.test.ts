import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect } from 'chai';
import { components } from '../../runtime/component-registry/index.ts';
import { asDomainName } from '../../runtime/domain-name/index.ts';
import { simulatedServices } from '../../runtime/workbench/simulation/services.ts';
import { VirtualClock } from '../../runtime/workbench/simulation/virtual-clock.ts';
import { readPhone } from '../../runtime/workbench/simulation/phones.ts';
import { simulate } from '../../runtime/workbench/simulation/simulation.ts';
import { problems, program } from '../support/scenarios.ts';
import { play, scenarioOf } from './support.ts';

const HUNT = 'exits: { answered: end, failed: end }';
const busy = { answers: [{ after: 50, status: 486 }] };
const late = { answers: [{ after: 3000, status: 200 }] };

describe('component hunt', () => {
  it('rings one member after another', async () => {
    const phones = { 101: busy, 102: late };
    const result = await play(
      `
      hunt: ["101", "102", "103"]
      ${HUNT}`,
      { script: { phones } },
    );
    expect(result).to.deep.include({ exit: 'answered', events: ['refer 101', 'refer 102'] });
    expect(result.result).to.deep.include({ member: '102', tried: 2, status: 200 });
  });

  it('leaves by failed after all rounds, and returns the other party', async () => {
    const result = await play(
      `
      hunt: { members: ["101"], rounds: 2 }
      ${HUNT}`,
      {
        script: { phones: { 101: busy } },
      },
    );
    expect(result).to.deep.include({ exit: 'failed', events: ['refer 101', 'refer 101'] });
  });

  it('least_recent starts with the member with the oldest last call', async () => {
    const clock = new VirtualClock();
    const services = simulatedServices({ clock });
    services.huntHistory?.note(asDomainName('simulation'), '101', 5);
    services.huntHistory?.note(asDomainName('simulation'), '102', 3);
    const result = await play(
      `
      hunt: { members: ["101", "102", "103"], strategy: least_recent }
      ${HUNT}`,
      {
        services,
        script: { phones: { 103: busy, 102: busy } },
      },
    );
    expect(result.events).to.deep.equal(['refer 103', 'refer 102', 'refer 101']);
    expect(services.huntHistory?.last(asDomainName('simulation'), '101')).to.be.greaterThan(5);
  });

  it('all_at_once rings all members at the same time', async () => {
    const result = await play(
      `
      hunt: { members: ["101", "102"], strategy: all_at_once }
      ${HUNT}`,
      {
        script: { phones: { 101: busy, 102: late } },
      },
    );
    expect(result).to.deep.include({ exit: 'answered', milliseconds: 3000 });
    expect(result.result).to.deep.include({ member: '102', tried: 2 });
  });

  it('plays its sounds to the other party', async () => {
    const tone = await play(
      `
      hunt: { members: ["101"], sounds: "tone:%(500,500,440)" }
      ${HUNT}`,
      { script: { phones: { 101: busy } } },
    );
    expect(tone.events).to.deep.equal(['refer 101', 'play tone:%(500,500,440) (until stopped)']);
  });

  describe('for a caller who is not answered yet', () => {
    async function ring(settings: string, phones: Record<string, string>) {
      const source = `id: group
start: ring
blocks:
  ring: { hunt: { members: ["101", "102"], ${settings} }, exits: { failed: end } }
`;
      const scripts = Object.entries(phones).map(([number, text]) => [number, readPhone(text)]);
      const script = { phones: Object.fromEntries(scripts) };
      const { events } = await simulate(program(source), { components, script });
      return [...events.values()].flat().map(({ what }) => what);
    }

    it('rings the members, and the answer of one is the answer of the call', async () => {
      const events = await ring('timeout: 5s', { 101: 'busy', 102: 'answers after 1s' });
      const hunted = ['refer 101', 'ring', 'refer 102', 'ring', 'ended by transfer: transferred'];
      expect(events).to.deep.equal(hunted);
    });

    it('refuses the call with the best refusal when nobody answers', async () => {
      const events = await ring('strategy: all_at_once', { 101: 'busy', 102: 'no answer' });
      expect(events).to.include('reject 486 Busy Here');
      const after = await ring('timeout: 2s', { 101: 'no answer', 102: 'no answer' });
      expect(after).to.include('reject 408 Request Timeout');
    });

    it('plays sounds before the answer', async () => {
      const events = await ring('sounds: "tone:%(500,0,440)"', { 101: 'answers after 1s' });
      expect(events).to.include('play tone:%(500,0,440) (until stopped)').and.not.include('ring');
    });
  });

  it('refuses sounds beside ringback: false', () => {
    const source = scenarioOf(`
      hunt: { members: ["101"], ringback: false, sounds: "tone:%(500,500,440)" }
      ${HUNT}`);
    expect(problems(source).join()).to.contain('`ringback: false` means silence');
  });

  describe('with screening', () => {
    const ASK = `id: ask
start: ask
blocks:
  ask: { menu: { prompt: "tone:%(200,0,800)", tries: 1, timeout: 5s }, exits: { 1: yes, 2: no, failed: no } }
  yes: { return: true }
  no: { return: false }
`;
    const GROUP = `id: group
start: pick_up
blocks:
  pick_up: { answer: , next: ring }
  ring:
    hunt: { members: ["101", "102", "103"], strategy: all_at_once, pre_answer: ask }
    exits: { failed: sorry }
  sorry: { play: "tone:%(200,0,300)", next: end }
`;
    let folder: string;
    before('write the scenarios', async () => {
      folder = await mkdtemp(path.join(tmpdir(), 'ringmaster-hunt-'));
      await writeFile(path.join(folder, 'ask.yaml'), ASK);
      await writeFile(path.join(folder, 'group.yaml'), GROUP);
    });
    after('remove them', () => rm(folder, { recursive: true }));

    async function ring(phones: Record<string, string>) {
      const scenario = { ...program(GROUP), file: path.join(folder, 'group.yaml') };
      const scripts = Object.entries(phones).map(([number, text]) => [number, readPhone(text)]);
      const script = { phones: Object.fromEntries(scripts) };
      const { run, outcome, events } = await simulate(scenario, { components, script });
      const happened = [...events.values()].flat().map(({ what }) => what);
      return { result: run.trace.at(1)?.result, path: run.trace.map(({ block }) => block), outcome, happened };
    }

    it('a mailbox that picks up first does not take the call from a mobile', async () => {
      const { result, outcome, happened } = await ring({
        101: 'no answer',
        102: 'answers after 1s',
        103: 'answers after 3s, presses 1',
      });
      expect(result).to.deep.include({ member: '103', status: 200 });
      expect(outcome.milliseconds).to.be.within(3000, 6000);
      expect(happened).to.include('102: ended by external: somebody else has the call');
    });

    it('a phone that declines leaves the others ringing; nobody accepts: the caller is back', async () => {
      const taken = await ring({ 101: 'answers, presses 2', 102: 'declines', 103: 'answers after 9s, presses 1' });
      expect(taken.result).to.deep.include({ member: '103', status: 200 });
      const nobody = await ring({ 101: 'answers, presses 2', 102: 'busy', 103: 'no answer' });
      expect(nobody.path).to.deep.equal(['pick_up', 'ring', 'sorry']);
      expect(nobody.result).to.deep.include({ status: 603 });
    });
  });
});
