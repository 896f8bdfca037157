/** The operations on calls and conferences of a node: for REST callers and for scenarios. */
import type { Logger } from 'pino';
import { createOperations, type Operations } from '../operations/index.ts';
import type { LiveDirectory } from '../domain/index.ts';
import { type EventBus, operationEvents } from '../events/index.ts';
import type { Metrics } from '../metrics/index.ts';
import type { Calls } from './calls.ts';
import type { LateParts } from './late.ts';
import type { Scenarios } from './scenarios.ts';

export interface OperationNeeds {
  readonly calls: Calls;
  readonly scenarios: Scenarios;
  readonly directory: LiveDirectory;
  readonly events: EventBus;
  readonly metrics: Metrics;
  readonly late: LateParts;
  readonly log: Logger;
}

export function openOperations(needs: OperationNeeds): Operations {
  const { calls, scenarios, directory, events, metrics, late, log } = needs;
  const { switch: b2b, callstore, conferenceStore } = calls;
  const { services, runner, runServices, scripts } = scenarios;
  const operations = createOperations({
    program: (id) => services.program(id),
    openCall: (domain) => b2b.createCall(domain),
    runServices,
    calls: callstore,
    conferences: conferenceStore,
    rooms: b2b.conferences,
    dialogs: b2b.dialogs,
    directory,
    scenario: (code, domain) => runner.program(code, domain),
    unservedScript: (code, domain) => scripts.unserved(code, domain),
    previewCall: (call) => b2b.previewCall(call),
    observer: metrics,
    overload: () => calls.overload('rest'),
    inviteIdOf: (dialogid) => b2b.liveCall(dialogid)?.inviteid,
    onFinished: operationEvents(events),
    log,
  });
  late.operations.bind(operations);
  return operations;
}
