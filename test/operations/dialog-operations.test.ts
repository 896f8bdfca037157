import { asDomainName } from '../../runtime/domain-name/index.ts';
import { services } from '../support/scenarios.ts';
import path from 'node:path';
import { expect } from 'chai';
import { components } from '../../runtime/component-registry/index.ts';
import {
  createOperations,
  OperationError,
  type OperationRequest,
  type Operations,
  ParameterError,
  type Scope,
} from '../../runtime/operations/index.ts';
import type { CallStore, DialogSelector } from '../../runtime/callstore/callstore.ts';
import { openScenarioLibrary } from '../../runtime/runs/library.ts';
import type { CallScript } from '../../runtime/workbench/simulation/call-script.ts';
import { SimulatedCall } from '../../runtime/workbench/simulation/simulated-call.ts';
import { VirtualClock } from '../../runtime/workbench/simulation/virtual-clock.ts';
import { silentLog } from '../support/log.ts';
import { MemoryDialogs, NO_CONFERENCES, NO_CALLS, NO_DIRECTORY, NO_ROOMS } from './support.ts';

const service = path.resolve(import.meta.dirname, '../../scenarios/service');
const library = openScenarioLibrary({ folders: [service], components, log: silentLog });
const DEMO = { domain: asDomainName('demo.local') };
const X = '<sip:101@demo.local>';

/** Finds dialogs by id and by `from` of either party; on the path of own calls d1 only. */
function callsOf(dialogs: MemoryDialogs, selectors: DialogSelector[]): CallStore {
  return {
    ...NO_CALLS,
    lookup: ({ ownUserId }, selector) => {
      const { dialogid, from } = selector;
      selectors.push(selector);
      return Promise.resolve(
        [...dialogs.numbers]
          .filter(([id, { a, b }]) => id === dialogid || a === from || b === from)
          .filter(([id]) => ownUserId === undefined || id === 'd1')
          .map(([id]) => id),
      );
    },
  };
}

class Play {
  readonly clock = new VirtualClock();
  readonly dialogs = new MemoryDialogs();
  readonly selectors: DialogSelector[] = [];
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
      calls: callsOf(this.dialogs, this.selectors),
      conferences: NO_CONFERENCES,
      rooms: NO_ROOMS,
      dialogs: this.dialogs,
      directory: NO_DIRECTORY,
      scenario: () => Promise.resolve(undefined),
      runServices: services({ dialogs: this.dialogs }),
    });
  }

  /** What the simulated party went through. */
  get steps(): string[] {
    return this.call.events.map(({ what }) => what);
  }

  /** Starts an operation and lets its scenario come to its end. */
  async apply(name: string, request: Omit<OperationRequest, 'scope'> & { readonly scope?: Scope }) {
    const { handle, response } = await this.operations.start(name, { scope: DEMO, ...request });
    const answered = await this.clock.run(response);
    if (handle) await this.clock.run(handle.finished);
    return answered;
  }

  async refer(body: object = {}) {
    const parameters = { by: X, referto: '103', response_mode: 4, ...body };
    return this.apply('refer', { parameters, dialogid: 'd1' });
  }

  async join(body: object = {}) {
    const parameters = { masterby: X, slaveby: X, slavedialogid: 'd2', ...body };
    return this.apply('referreplaces', { parameters, dialogid: 'd1' });
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
  it("takes the initiator's opponent out of the call and transfers it", async () => {
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

  it('returns the party to the initiator when the target refuses', async () => {
    const play = new Play({ target: [{ after: 100, status: 486 }] });
    expect(await play.refer()).to.deep.equal({
      dialogid: 'd1',
      result: 'rejected',
      ivrcallid: 'ivr@simulation',
      new_acallid: 'a@simulation',
      new_last_response: 'SIP/2.0 486 Busy Here',
      sip_status: 486,
      reason: 'Busy Here',
    });
    expect(play.steps.slice(0, 3)).to.deep.equal(['takeOver d1 b', 'refer 103', 'refer 101']);
  });

  it('by a Call-ID selects the leg with it', async () => {
    const play = new Play();
    await play.refer({ by: 'b-d1' });
    expect(play.steps[0]).to.equal('takeOver d1 a');
  });

  it('reports a call that is gone', async () => {
    const play = new Play({ dialled: [{ after: 0, status: 481, local: true }] });
    expect(await play.refer()).to.deep.equal({
      dialogid: 'd1',
      result: 'rejected',
      ivrcallid: 'ivr@simulation',
      sip_status: 481,
      reason: 'Answer',
    });
  });

  it('is refused for an unanswered call, and for an initiator outside of the call', async () => {
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
  it("joins the initiator's opponents of both calls", async () => {
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

  it('returns the party when the other call is gone', async () => {
    const play = new Play({ target: [{ after: 0, status: 481 }] });
    expect(await play.join()).to.include({ result: 'rejected', new_last_response: 'SIP/2.0 481 Answer' });
    expect(play.steps).to.include('refer 101');
  });

  it('requires exactly one slave dialog', async () => {
    const play = new Play();
    expect(await failureOf(play.join({ slavedialogid: undefined }))).to.include({ field: 'slavedialogid' });
    expect(await failureOf(play.join({ slavedialogid: 'd9' }))).to.include({ kind: 'dialog_not_found' });
    const several = await failureOf(play.join({ slavedialogid: undefined, slavefrom: '101' }));
    expect(several).to.deep.equal({ kind: 'ambiguous', field: 'slavefrom', ids: ['d1', 'd2'] });
  });
});

describe('SETUP_BINDINGS', () => {
  const setup = async (play: Play, body: object) =>
    (await play.apply('setup_bindings', { parameters: body, dialogid: 'd1' })) as {
      labels?: unknown;
      contains?: unknown;
    };
  const labels = async (play: Play) => (await setup(play, { command: 'get' })).labels;

  it('adds, removes, replaces, gets and cleans labels', async () => {
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

  it('limits a call to 256 labels', async () => {
    const play = new Play();
    const hundred = (of: number) => Array.from({ length: 100 }, (_, at) => `${of}-${at}`);
    await setup(play, { command: 'add', label: hundred(1) });
    await setup(play, { command: 'add', label: hundred(2) });
    await setup(play, { command: 'add', label: hundred(2) });
    const refused = await failureOf(setup(play, { command: 'add', label: hundred(3) }));
    expect(refused).to.include({ kind: 'not_applicable', field: 'label' });
    expect(await labels(play)).to.deep.equal([...hundred(1), ...hundred(2)]);
  });

  it('refuses invalid parameters, and keeps the labels', async () => {
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

describe('dialogs of an operation', () => {
  it('are those of the user on the path of own calls', async () => {
    const play = new Play();
    const scope = { ...DEMO, ownUserId: 'u1' };
    expect(await play.apply('lookup', { scope, parameters: { from: '101' } })).to.deep.equal(['d1']);
    const end = (dialogid: string) => play.apply('delete', { scope, dialogid, parameters: undefined });
    expect(await failureOf(end('d2'))).to.include({ kind: 'dialog_not_found' });
    expect(await end('d1')).to.deep.equal({ dialogid: 'd1' });
    expect(await failureOf(end('d1'))).to.include({ kind: 'dialog_not_found' });
  });

  it('are selected by a selector when the path has no id', async () => {
    const play = new Play();
    const parameters = { by: X, referto: '104', response_mode: 4, from: '103' };
    expect(await play.apply('refer', { parameters })).to.include({ dialogid: 'd2', result: 'ok' });
    const several = { ...parameters, from: '101' };
    expect(await failureOf(play.apply('refer', { parameters: several }))).to.deep.equal({
      kind: 'ambiguous',
      field: 'from',
      ids: ['d1', 'd2'],
    });
    expect(await failureOf(play.apply('refer', { parameters: { by: X, referto: '104' } }))).to.include({
      field: 'dialogid',
    });
  });

  it('are selected by the selector of highest priority', async () => {
    const play = new Play();
    const find = (parameters: object) => play.apply('lookup', { parameters });
    const selectors = { userid: 'u', from: '103', mode: 'sipuser', uri: '<sip:x@demo.local>', callid: 'none' };
    expect(await failureOf(find(selectors))).to.include({ kind: 'dialog_not_found' });
    await find({ userid: 'u', from: '103', mode: 'sipuser' });
    await failureOf(find({ userid: 'u', mode: 'sipuser' }));
    expect(play.selectors).to.deep.equal([{ callid: 'none' }, { from: '103', mode: 'sipuser' }, { userid: 'u' }]);
    for (const wrong of [{}, { dialogid: '' }, { from: '1', mode: 'x' }])
      expect(await failureOf(find(wrong)), JSON.stringify(wrong)).to.be.instanceOf(ParameterError);
  });

  it('are all matches of a selector for DELETE', async () => {
    const play = new Play();
    expect(await play.apply('delete', { parameters: { from: '101' } })).to.deep.equal({
      dialogid: 'd1',
      dialogids: ['d1', 'd2'],
    });
    expect([...play.dialogs.numbers]).to.deep.equal([]);
  });

  it('are listed in a dry run, without an effect', async () => {
    const play = new Play();
    const asked = { scope: DEMO, dialogid: 'd1', parameters: { masterby: X, slaveby: X, slavedialogid: 'd2' } };
    const { dialogs } = await play.operations.preview('referreplaces', asked);
    expect(dialogs.map(({ dialogid, legs }) => [dialogid, ...legs.map(({ callid }) => callid)])).to.deep.equal([
      ['d1', 'a-d1', 'b-d1'],
      ['d2', 'a-d2', 'b-d2'],
    ]);
    expect(
      await failureOf(
        play.operations.preview('refer', { scope: DEMO, dialogid: 'd9', parameters: { by: X, referto: '1' } }),
      ),
    ).to.include({ kind: 'dialog_not_found' });
    expect(play.steps).to.deep.equal([]);
  });
});
