import path from 'node:path';
import { expect } from 'chai';
import { components } from '../../../components/index.ts';
import {
  createOperations,
  OperationError,
  type Operations,
  ParameterError,
} from '../../../components/operation/index.ts';
import type { CallStore } from '../../../runtime/callstore/callstore.ts';
import { openScenarioLibrary } from '../../../runtime/interpreter/library.ts';
import { type CallScript, SimulatedCall } from '../../../runtime/interpreter/simulation/simulated-call.ts';
import { VirtualClock } from '../../../runtime/interpreter/simulation/virtual-clock.ts';
import { silentLog } from '../../interpreter/support.ts';
import { MemoryDialogs, NO_CALLS } from './support.ts';

const service = path.resolve(import.meta.dirname, '../../../scenarios/service');
const library = openScenarioLibrary({ folders: [service], components, log: silentLog });
const DEMO = { domain: 'demo.local' };
const X = '<sip:101@demo.local>';

/** Finds dialogs by id, by `from` of either party, and by `userid` u1 for d1 only. */
function callsOf(dialogs: MemoryDialogs): CallStore {
  return {
    ...NO_CALLS,
    lookup: (_domain, { dialogid, from, userid }) =>
      Promise.resolve(
        [...dialogs.numbers]
          .filter(([id, { a, b }]) => id === dialogid || a === from || b === from || (userid === 'u1' && id === 'd1'))
          .map(([id]) => id),
      ),
  };
}

class Play {
  readonly clock = new VirtualClock();
  readonly dialogs = new MemoryDialogs();
  readonly call: SimulatedCall;
  readonly operations: Operations;

  constructor(script: CallScript = {}) {
    this.dialogs.numbers.set('d1', { a: '101', b: '102' });
    this.dialogs.numbers.set('d2', { a: '101', b: '103' });
    this.call = new SimulatedCall(this.clock, { ...script, direction: 'outgoing' });
    this.operations = createOperations({
      program: async (id) => (await library).program(id),
      openCall: () => this.call,
      log: silentLog,
      clock: this.clock,
      calls: callsOf(this.dialogs),
      dialogs: this.dialogs,
    });
  }

  /** What the simulated party went through. */
  get steps(): string[] {
    return this.call.events.map(({ what }) => what);
  }

  async refer(body: object = {}) {
    const parameters = { by: X, referto: '103', response_mode: 4, ...body };
    const { handle, response } = await this.operations.refer(DEMO, { dialogid: 'd1' }, parameters, DEMO);
    const answered = await this.clock.run(response);
    await this.clock.run(handle.finished);
    return answered;
  }

  async join(body: object = {}) {
    const parameters = { masterby: X, slaveby: X, slavedialogid: 'd2', ...body };
    const { handle, response } = await this.operations.referReplaces(DEMO, { dialogid: 'd1' }, parameters, DEMO);
    const answered = await this.clock.run(response);
    await this.clock.run(handle.finished);
    return answered;
  }
}

async function failureOf(work: Promise<unknown>): Promise<OperationError['problem'] | ParameterError> {
  const error = await work.then(
    () => expect.fail('it was not refused'),
    (reason: unknown) => reason,
  );
  if (error instanceof OperationError) return error.problem;
  expect(error).to.be.instanceOf(ParameterError);
  return error as ParameterError;
}

describe('REFER', () => {
  it('takes the opponent of the initiator out of the call and transfers it', async () => {
    const play = new Play();
    expect(await play.refer()).to.deep.equal({
      dialogid: 'd1',
      result: 'ok',
      ivrcallid: 'ivr@simulation',
      new_acallid: 'a@simulation',
      new_last_response: 'SIP/2.0 200 OK',
      new_dialogid: 'dialog-2',
    });
    expect(play.steps).to.deep.equal(['takeOver d1 b', 'refer 103', 'ended by transfer: transferred']);
  });

  it('gives the party back to the initiator when the target refuses', async () => {
    const play = new Play({ target: [{ after: 100, status: 486 }] });
    expect(await play.refer()).to.deep.equal({
      dialogid: 'd1',
      result: 'rejected',
      ivrcallid: 'ivr@simulation',
      new_acallid: 'a@simulation',
      new_last_response: 'SIP/2.0 486 Busy Here',
    });
    expect(play.steps.slice(0, 3)).to.deep.equal(['takeOver d1 b', 'refer 103', 'refer 101']);
  });

  it('by a Call-ID names the side that has it', async () => {
    const play = new Play();
    await play.refer({ by: 'b-d1' });
    expect(play.steps[0]).to.equal('takeOver d1 a');
  });

  it('tells of a call that was gone', async () => {
    const play = new Play({ dialled: [{ after: 0, status: 481, local: true }] });
    expect(await play.refer()).to.deep.equal({ dialogid: 'd1', result: 'rejected', ivrcallid: 'ivr@simulation' });
  });

  it('is refused for an unanswered call, and for an initiator that takes no part', async () => {
    const play = new Play();
    expect(await failureOf(play.refer({ by: '<sip:104@demo.local>' }))).to.include({
      kind: 'not_applicable',
      field: 'by',
    });
    play.dialogs.forking.add('d1');
    expect(await failureOf(play.refer())).to.include({ kind: 'not_applicable', field: 'dialogid' });
    expect(play.steps).to.deep.equal([]);
  });
});

describe('REFERREPLACES', () => {
  it('joins the opponents of the initiator in both calls', async () => {
    const play = new Play();
    expect(await play.join()).to.deep.equal({
      masterdialogid: 'd1',
      slavedialogid: 'd2',
      result: 'ok',
      ivrcallid: 'ivr@simulation',
      new_acallid: 'a@simulation',
      new_last_response: 'SIP/2.0 200 OK',
      new_dialogid: 'dialog-2',
    });
    expect(play.steps.slice(0, 2)).to.deep.equal(['takeOver d1 b', 'join d2 b']);
  });

  it('gives the party back when the other call is gone', async () => {
    const play = new Play({ target: [{ after: 0, status: 481 }] });
    expect(await play.join()).to.include({ result: 'rejected', new_last_response: 'SIP/2.0 481 Answer' });
    expect(play.steps).to.include('refer 101');
  });

  it('wants a slave dialog, and one only', async () => {
    const play = new Play();
    expect(await failureOf(play.join({ slavedialogid: undefined }))).to.include({ field: 'slavedialogid' });
    expect(await failureOf(play.join({ slavedialogid: 'd9' }))).to.include({ kind: 'dialog_not_found' });
    const several = await failureOf(play.join({ slavedialogid: undefined, slavefrom: '101' }));
    expect(several).to.deep.equal({ kind: 'ambiguous', field: 'slavefrom', ids: ['d1', 'd2'] });
  });
});

describe('SETUP_BINDINGS', () => {
  const setup = (play: Play, body: object) => play.operations.setupBindings(DEMO, { dialogid: 'd1' }, body);
  const labels = async (play: Play) => (await setup(play, { command: 'get' })).labels;

  it('adds, removes, replaces, asks for and cleans labels', async () => {
    const play = new Play();
    expect(await setup(play, { command: 'add', label: 'one' })).to.deep.equal({ result: 'ok', dialogid: 'd1' });
    await setup(play, { command: 'add', label: ['two', 'three'] });
    expect(await labels(play)).to.deep.equal(['one', 'two', 'three']);
    await setup(play, { command: 'remove', label: ['one', 'none'] });
    expect(await labels(play)).to.deep.equal(['two', 'three']);
    expect((await setup(play, { command: 'contains', label: 'two' })).contains).to.equal(true);
    expect((await setup(play, { command: 'contains', label: 'one' })).contains).to.equal(false);
    await setup(play, { command: 'set', label: 'new' });
    expect(await labels(play)).to.deep.equal(['new']);
    await setup(play, { command: 'clean' });
    expect(await labels(play)).to.deep.equal([]);
  });

  it('refuses what it does not know, and leaves the labels alone', async () => {
    const play = new Play();
    await setup(play, { command: 'set', label: 'kept' });
    for (const body of [
      { command: 'drop' },
      { command: 'add' },
      { command: 'contains', label: ['a'] },
      { label: 'x' },
    ]) {
      expect(await failureOf(setup(play, body)), JSON.stringify(body)).to.be.instanceOf(ParameterError);
    }
    expect(await labels(play)).to.deep.equal(['kept']);
  });
});

describe('the dialogs that operations may touch', () => {
  it('are those of the user on the path of own calls', async () => {
    const play = new Play();
    const own = { ...DEMO, ownUserId: 'u1' };
    expect(await play.operations.lookup(own, { from: '101' })).to.deep.equal(['d1']);
    expect(await failureOf(play.operations.terminate(own, { dialogid: 'd2' }))).to.include({
      kind: 'dialog_not_found',
    });
    expect(await play.operations.terminate(own, { dialogid: 'd1' })).to.deep.equal({ dialogid: 'd1' });
    expect(await failureOf(play.operations.terminate(own, { dialogid: 'd1' }))).to.include({
      kind: 'dialog_not_found',
    });
  });
});
