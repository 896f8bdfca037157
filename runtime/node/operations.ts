/** Call operations of a node: for REST callers and for scenarios. */
import type { Logger } from 'pino';
import { conferenceOperations, createOperations } from '../operations/index.ts';
import type { LiveDirectory } from '../domain/index.ts';
import type { EventBus } from '../events/event-bus.ts';
import { operationEvents } from '../events/operation-events.ts';
import type { Metrics } from '../metrics/metrics.ts';
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

export interface Operations {
  readonly onCalls: ReturnType<typeof createOperations>;
  readonly onConferences: ReturnType<typeof conferenceOperations>;
}

export function openOperations(needs: OperationNeeds): Operations {
  const { calls, scenarios, directory, events, metrics, late, log } = needs;
  const { switch: b2b, callstore, conferenceStore, overload } = calls;
  const { services, runner, runServices, scripts } = scenarios;
  const onCalls = createOperations({
    program: (id) => services.program(id),
    openCall: (domain) => b2b.createCall(domain),
    runServices,
    calls: callstore,
    conferences: conferenceStore,
    dialogs: b2b.dialogs,
    directory,
    scenario: (code, domain) => runner.program(code, domain),
    unservedScript: (code, domain) => scripts.unserved(code, domain),
    previewCall: (call) => b2b.previewCall(call),
    observer: metrics,
    overload: () => overload('rest'),
    inviteIdOf: (dialogid) => b2b.liveCall(dialogid)?.inviteid,
    onFinished: operationEvents(events),
    log,
  });
  const onConferences = conferenceOperations({
    store: conferenceStore,
    control: b2b.conferences,
    dialogs: b2b.dialogs,
    overload: () => overload('rest'),
  });
  const operations = { onCalls, onConferences };
  late.operations.bind(operations);
  return operations;
}
