import { expect } from 'chai';
import { asDomainName } from '../../runtime/domain-name/index.ts';
import { simulatedServices } from '../../runtime/workbench/simulation/services.ts';
import { VirtualClock } from '../../runtime/workbench/simulation/virtual-clock.ts';
import { play } from './support.ts';

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
});
