import { expect } from 'chai';
import { asDomainName } from '../../runtime/domain-name/index.ts';
import { AgentDesk, type AgentDeskOptions } from '../../runtime/runs/agent-desk.ts';
import type { Seeker } from '../../runtime/runs/ports/agents.ts';
import { VirtualClock } from '../../runtime/workbench/simulation/virtual-clock.ts';

const domain = asDomainName('d');
const READY = { state: 'ready', queues: ['q'], skills: [] } as const;

describe('agents of queues', () => {
  let clock: VirtualClock;
  let offers: string[];
  beforeEach(() => {
    clock = new VirtualClock(1000);
    offers = [];
  });

  const desk = (options: Partial<AgentDeskOptions> = {}): AgentDesk => new AgentDesk({ clock, ...options });

  function seek(agents: AgentDesk, run: string, wish: Partial<Seeker> = {}): () => void {
    return agents.seek(domain, {
      run,
      queue: 'q',
      priority: 0,
      since: 0,
      skills: [],
      agents: undefined,
      offered: (number) => offers.push(`${run} ${number}`),
      ...wish,
    });
  }

  it('get one caller at a time: the one with the highest priority, then the one who has waited longest', () => {
    const agents = desk();
    seek(agents, 'late', { since: 5 });
    seek(agents, 'early', { since: 2 });
    seek(agents, 'vip', { since: 9, priority: 5 });
    agents.set(domain, '102', READY);
    expect(offers).to.deep.equal(['vip 102']);
    expect(agents.get(domain, '102')).to.include({ status: 'ringing', queue: 'q' });
    agents.release(domain, '102', 'vip', 0);
    agents.release(domain, '102', 'early', 0);
    expect(offers).to.deep.equal(['vip 102', 'early 102', 'late 102']);
  });

  it('are taken in turn, and only with the skills and by the queues that are theirs', () => {
    const agents = desk();
    agents.set(domain, '102', { ...READY, skills: ['german'] });
    agents.set(domain, '103', READY);
    seek(agents, 'a', { skills: ['german', 'tax'] });
    seek(agents, 'b', { queue: 'other' });
    seek(agents, 'c', { skills: ['german'] });
    seek(agents, 'd');
    expect(offers).to.deep.equal(['c 102', 'd 103']);
    expect(agents.staffed(domain, { queue: 'q', skills: ['german'], agents: undefined })).to.equal(1);
    agents.set(domain, '103', { skills: ['german', 'tax'] });
    expect(offers).to.have.length(2);
    agents.release(domain, '103', 'd', 0);
    expect(offers.at(-1)).to.equal('a 103');
  });

  it('get no caller while they are away, in their wrap-up, or in another call', async () => {
    let busy = true;
    const agents = desk({ isBusy: () => busy });
    agents.set(domain, '102', { ...READY, state: 'away' });
    seek(agents, 'a');
    expect(agents.get(domain, '102')?.status).to.equal('away');
    agents.set(domain, '102', { state: 'ready' });
    expect(offers).to.deep.equal([]);
    expect(agents.get(domain, '102')?.status).to.equal('busy');
    busy = false;
    await clock.run(clock.sleep(2000, new AbortController().signal));
    expect(offers).to.deep.equal(['a 102']);
    agents.release(domain, '102', 'a', 5000);
    seek(agents, 'b');
    expect(agents.get(domain, '102')?.status).to.equal('wrap_up');
    await clock.run(clock.sleep(4900, new AbortController().signal));
    expect(offers).to.have.length(1);
    await clock.run(clock.sleep(200, new AbortController().signal));
    expect(offers).to.deep.equal(['a 102', 'b 102']);
  });

  it('go on with their conversation when they go away, and then get no other', () => {
    const agents = desk();
    seek(agents, 'a', { agents: ['102'] });
    const ended = new AbortController().signal;
    agents.talks(domain, '102', 'a', () => ({ dialogid: 'x', side: 'b', ended }));
    expect(agents.set(domain, '102', { state: 'away' }).status).to.equal('talking');
    expect(agents.talkOf(domain, '102')?.dialogid).to.equal('x');
    agents.release(domain, '102', 'a', 0);
    seek(agents, 'b', { agents: ['102'] });
    expect(offers).to.deep.equal(['a 102']);
    expect(agents.talkOf(domain, '102')).to.equal(undefined);
  });

  it('are kept when they are changed; one that only a queue named is known, and not kept', () => {
    const kept: unknown[] = [];
    const agents = desk({ keep: (_domain, number, settings) => kept.push([number, settings?.state]) });
    seek(agents, 'a', { agents: ['104'] })();
    agents.release(domain, '104', 'a', 0);
    expect(agents.list(domain).map(({ number, status }) => [number, status])).to.deep.equal([['104', 'ready']]);
    agents.set(domain, '102', { state: 'away' });
    expect(agents.remove(domain, '102')).to.equal(true);
    expect(agents.remove(domain, '102')).to.equal(false);
    expect(kept).to.deep.equal([
      ['102', 'away'],
      ['102', undefined],
    ]);
  });
});
