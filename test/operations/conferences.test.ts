import { expect } from 'chai';
import { asDomainName } from '../../runtime/domain-name/index.ts';
import type { ConferenceView } from '../../runtime/callstore/conference-view.ts';
import { TopologyError } from '../../runtime/conference/topology.ts';
import {
  type ConferenceControl,
  createOperations,
  OperationError,
  operationPort,
  ParameterError,
} from '../../runtime/operations/index.ts';
import { silentLog } from '../support/log.ts';
import { services } from '../support/scenarios.ts';
import { NO_CALLS, NO_CONFERENCES, NO_DIRECTORY, NO_ROOMS } from './support.ts';

const DEMO = { domain: asDomainName('demo.local') };
const CONFERENCE: ConferenceView = {
  confid: 'c1',
  confroomnum: '1',
  confnumber: '1',
  uri: '<sip:*701@demo.local>',
  site: 'default',
  startts: 1,
  uris: [],
};

/** The conference c1 with the participant p1, in the dialog d1; what is done to it is noted down. */
function play(rooms: Partial<ConferenceControl> = {}, overloaded = false) {
  const done: string[] = [];
  const nobody = (): never => {
    throw new Error('nobody is called here');
  };
  const operations = createOperations({
    program: nobody,
    openCall: nobody,
    scenario: nobody,
    log: silentLog,
    runServices: services(),
    calls: NO_CALLS,
    conferences: Object.assign(Object.create(NO_CONFERENCES) as typeof NO_CONFERENCES, {
      read: async (_scope: object, confid: string) => (confid === 'c1' ? CONFERENCE : undefined),
    }),
    rooms: {
      ...NO_ROOMS,
      terminate: (confid) => done.push(`terminate ${confid}`) > 0,
      addParticipant: (confid, to) => {
        done.push(`add ${to} to ${confid}`);
        return { participantid: 'p2' };
      },
      dialogs: (_confid, participantid = 'p1') => (participantid === 'p1' ? ['d1'] : []),
      removeParticipant: (confid, participantid) => done.push(`remove ${participantid} from ${confid}`) > 0,
      ...rooms,
    },
    dialogs: { find: () => undefined },
    directory: NO_DIRECTORY,
    ...(overloaded && { overload: () => ({ reason: 'too many calls', retryAfterSeconds: 5 }) }),
  });
  const scenarios = operationPort(() => operations);
  const call = (name: string, parameters: Parameters<typeof scenarios.call>[2]) =>
    scenarios.call(name, asDomainName('demo.local'), parameters, new AbortController().signal);
  return { done, operations, call };
}

async function failure(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => undefined,
    (error: unknown) => error,
  );
}

describe('conference operations', () => {
  it('take the conference from the path of a request or a setting of a scenario', async () => {
    const { done, operations, call } = play();
    const { response } = await operations.start('add_participant', {
      scope: DEMO,
      confid: 'c1',
      parameters: { to: '102' },
    });
    expect(await response).to.deep.equal({ confid: 'c1', participantid: 'p2' });
    expect(await call('remove_participant', { confid: 'c1', participantid: 'p1' })).to.deep.equal({
      confid: 'c1',
      participantid: 'p1',
    });
    expect(await call('terminate_conference', { confid: 'c1' })).to.deep.equal({ confid: 'c1' });
    expect(done).to.deep.equal(['add 102 to c1', 'remove p1 from c1', 'terminate c1']);
  });

  it('change nothing in a dry run, which lists the dialogs', async () => {
    const { done, operations } = play();
    const named = { scope: DEMO, confid: 'c1', parameters: {} };
    const dialogs = [{ dialogid: 'd1', legs: [] }];
    expect(await operations.preview('terminate_conference', named)).to.deep.equal({ dialogs });
    expect(await operations.preview('remove_participant', { ...named, participantid: 'p1' })).to.deep.equal({
      dialogs,
    });
    expect(await operations.preview('add_participant', { ...named, parameters: { to: '102' } })).to.deep.equal({
      dialogs: [],
    });
    expect(done).to.deep.equal([]);
  });

  it('distinguish a missing conference from a missing participant', async () => {
    const { done, call } = play();
    const entityOf = async (name: string, parameters: Parameters<typeof call>[1]) => {
      const error = await failure(call(name, parameters));
      expect(error).to.be.instanceOf(OperationError);
      const { problem } = error as OperationError;
      return problem.kind === 'not_found' ? problem.entity : problem.kind;
    };
    expect(await entityOf('terminate_conference', { confid: 'none' })).to.equal('Conference');
    expect(await entityOf('remove_participant', { confid: 'none', participantid: 'p1' })).to.equal('Call/Participant');
    expect(await entityOf('remove_participant', { confid: 'c1', participantid: 'p9' })).to.equal('Call/Participant');
    expect(done).to.deep.equal([]);
  });

  it('are refused with the invalid field, and during overload', async () => {
    const { call } = play();
    const wrong = (await failure(call('add_participant', { confid: 'c1', to: 'a b' }))) as ParameterError;
    expect(wrong).to.be.instanceOf(ParameterError);
    expect(wrong.field).to.equal('to');
    const busy = play({}, true);
    const refused = (await failure(busy.call('add_participant', { confid: 'c1', to: '102' }))) as OperationError;
    expect(refused.problem).to.deep.equal({ kind: 'overload', reason: 'too many calls', retryAfterSeconds: 5 });
    expect(busy.done).to.deep.equal([]);
  });

  it('name the invalid command of a topology', async () => {
    const { call } = play({
      changeTopology: () => Promise.reject(new TopologyError('0.from', 'is no participant')),
    });
    const commands = [{ from: 'p9', to: '*', enabled: false }];
    const error = (await failure(call('change_topology', { confid: 'c1', commands }))) as OperationError;
    expect(error.problem).to.deep.equal({ kind: 'not_applicable', field: '0.from', reason: 'is no participant' });
  });
});
