/** The operations on calls and conferences of a node: for REST callers and for scenarios. */
import type { Logger } from 'pino';
import type { Cluster, ClusterOperations } from '../cluster/index.ts';
import { createOperations, type Operations } from '../operations/index.ts';
import type { DomainName } from '../domain-name/index.ts';
import type { LiveDirectory } from '../domain/index.ts';
import { type EventBus, operationEvents } from '../events/index.ts';
import type { Metrics } from '../metrics/index.ts';
import type { Calls } from './calls.ts';
import { CallControl } from './call-control.ts';
import type { Duties } from './duties.ts';
import type { LateParts } from './late.ts';
import type { Scenarios } from './scenarios.ts';

export interface OperationNeeds {
  readonly calls: Calls;
  readonly scenarios: Scenarios;
  readonly directory: LiveDirectory;
  readonly events: EventBus;
  readonly metrics: Metrics;
  readonly late: LateParts;
  readonly duties: Duties;
  /** Undefined on a single node. */
  readonly cluster: Cluster | undefined;
  readonly log: Logger;
}

export interface NodeOperations {
  /** On the calls of this node. */
  readonly local: Operations;
  /** On the calls of all nodes; undefined on a single node. */
  readonly everywhere: ClusterOperations | undefined;
  /** For REST callers and scenarios. */
  readonly control: CallControl;
}

export function openOperations(needs: OperationNeeds): NodeOperations {
  const { calls, scenarios, directory, events, metrics, late, duties, cluster, log } = needs;
  const { switch: b2b, callstore, conferenceStore } = calls;
  const { services, runner, runServices, scripts } = scenarios;
  const clusterDialogs = cluster?.dialogs(b2b.dialogs);
  const local = createOperations({
    program: (id) => services.program(id),
    openCall: (domain) => b2b.createCall(domain),
    runServices,
    calls: calls.everywhere ?? callstore,
    conferences: calls.everyConference ?? conferenceStore,
    rooms: b2b.conferences,
    dialogs: b2b.dialogs,
    ...(clusterDialogs && {
      dialogElsewhere: (domain: DomainName, dialogid: string) => clusterDialogs.find(domain, dialogid),
    }),
    directory,
    scenario: (code, domain) => runner.program(code, domain),
    unservedScript: (code, domain) => scripts.unserved(code, domain),
    previewCall: (call) => b2b.previewCall(call),
    observer: metrics,
    overload: (domain) => calls.overload('rest', domain),
    inviteIdOf: (dialogid) => b2b.liveCall(dialogid)?.inviteid,
    onFinished: operationEvents(events),
    log,
  });
  const stores = calls.everywhere &&
    calls.everyConference &&
    clusterDialogs && { calls: calls.everywhere, conferences: calls.everyConference, dialogs: clusterDialogs };
  const everywhere = stores && cluster?.operations(local, stores, duties.calls);
  const control = new CallControl({
    calls: calls.everywhere ?? callstore,
    operations: everywhere ?? local,
    isThere: () => duties.callControl || cluster?.has('callstore') === true,
    startsCalls: duties.calls || cluster !== undefined,
  });
  late.operations.bind(control.operations);
  return { local, everywhere, control };
}
