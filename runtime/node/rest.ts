/** The REST service of a node. */
import type { Logger } from 'pino';
import {
  ClassResource,
  createRestServer,
  domainCenter,
  LIVE_LISTS,
  listenOn,
  type SipWebSockets,
  webAppsOf,
} from '../../rest-bridge/index.ts';
import type { Config } from '../config/index.ts';
import { Registrations } from '../domain/index.ts';
import { ListenError } from '../embedded/index.ts';
import type { EventBus, SharedEvents } from '../events/index.ts';
import { FirstAnswers } from '../idempotency/index.ts';
import type { CallHistory, RunHistory, ScenarioFigures } from '../history/index.ts';
import type { Ladder } from '../ladder/index.ts';
import type { Metrics } from '../metrics/index.ts';
import { AuditLog } from '../model/index.ts';
import { databaseState, type Storage } from '../storage/index.ts';
import type { Prompts } from '../prompts/index.ts';
import type { Calls } from './calls.ts';
import type { LiveCertificate } from './certificate.ts';
import type { Data } from './data.ts';
import type { Drain } from './drain.ts';
import type { Duties } from './duties.ts';
import type { Cluster } from '../cluster/index.ts';
import type { NodeOperations } from './operations.ts';
import type { Webhooks } from '../webhooks/index.ts';
import type { Recordings } from './recordings.ts';
import type { Sandbox } from '../sandbox/index.ts';
import type { Scenarios } from './scenarios.ts';
import { openWorkbench } from './workbench.ts';

export interface RestNeeds {
  /** True while calls can be made. */
  readonly isReady: () => boolean;
  readonly config: Config;
  readonly storage: Storage;
  readonly data: Data;
  readonly events: EventBus;
  /** Those of all nodes; undefined on a single node. */
  readonly sharedEvents: SharedEvents | undefined;
  readonly metrics: Metrics;
  readonly recordings: Recordings;
  readonly scenarios: Scenarios;
  /** Runs the scripts of simulations. */
  readonly sandbox: Sandbox;
  readonly prompts: Prompts;
  readonly calls: Calls;
  readonly history: CallHistory;
  readonly runHistory: RunHistory;
  readonly scenarioFigures: ScenarioFigures;
  readonly webhooks: Webhooks;
  readonly ladder: Ladder | undefined;
  readonly operations: NodeOperations;
  readonly duties: Duties;
  /** Undefined on a single node. */
  readonly cluster: Cluster | undefined;
  /** Numbers of live objects in the node, by kind. */
  readonly counts: () => Promise<Readonly<Record<string, number>>>;
  readonly drain: Drain;
  /** For TLS, if there is one. */
  readonly certificate: LiveCertificate | undefined;
  readonly sipWebSockets: SipWebSockets;
  readonly log: Logger;
}

export interface Rest {
  /** `http://host:port` */
  readonly address: string;
  /** `https://host:port`, where there is a certificate. */
  readonly secureAddress: string | undefined;
  close(): Promise<void>;
}

/** @throws ListenError for a taken port */
export async function openRest(needs: RestNeeds): Promise<Rest> {
  const {
    config,
    storage,
    data,
    events,
    sharedEvents,
    metrics,
    recordings,
    scenarios,
    sandbox,
    prompts,
    calls,
    history,
    runHistory,
    scenarioFigures,
    webhooks,
    ladder,
    operations,
    duties,
    cluster,
    counts,
    drain,
    certificate,
    sipWebSockets,
    log,
  } = needs;
  const { directory, iam, model, avatars } = data;
  const database = databaseState(storage);
  const clusterRuns = cluster?.runRecords(scenarios.runner);
  const rest = await createRestServer({
    iam,
    accounts: iam.accounts,
    avatars,
    webApps: webAppsOf(directory),
    collections: {
      ...domainCenter(directory, iam, scenarios.scripts, (id) => calls.switch.trunk(id)),
      '/domain/classes': new ClassResource(model, directory),
    },
    model,
    audit: new AuditLog(model),
    events,
    ...(sharedEvents && { sharedEvents }),
    directory,
    recordings: recordings.recording,
    scenarioRecordings: scenarios.recordings,
    voicemail: data.voicemail,
    serves: duties.rest ? 'all' : 'health',
    calls: operations.control.calls,
    history,
    runHistory,
    scenarioFigures,
    webhooks,
    ...(ladder && { ladder }),
    operations: operations.control.operations,
    ...(cluster && { cluster }),
    metrics,
    firstAnswers: new FirstAnswers(storage, undefined, cluster?.firstRequests()),
    conferences: calls.everyConference ?? calls.conferenceStore,
    agents: scenarios.runServices.agents,
    queues: scenarios.runServices.queues,
    rooms: calls.everyConference ?? calls.switch.conferences,
    operationRecords: operations.everywhere?.records ?? operations.local,
    runs: clusterRuns ?? scenarios.runner,
    ...(calls.everywhere &&
      calls.everyConference &&
      clusterRuns && {
        pages: {
          calls: operations.control.pages(calls.everywhere.pages(LIVE_LISTS.calls)),
          conferences: calls.everyConference.pages(LIVE_LISTS.conferences),
          runs: clusterRuns.pages(LIVE_LISTS.runs, LIVE_LISTS.liveRuns, () => runHistory.flush()),
        },
      }),
    registrations: new Registrations(directory, data.location),
    scripts: scenarios.scripts,
    workbench: openWorkbench(scenarios.scripts, sandbox, (domain) => {
      const id = directory.domain(domain)?.id;
      return id === undefined ? [] : model.classes(id).list();
    }),
    prompts,
    hooks: scenarios.starter,
    health: async () => {
      const [alive, state] = await Promise.all([counts(), database()]);
      return {
        ok: needs.isReady(),
        roles: [...config.roles],
        counts: alive,
        database: state,
        history: history.state(),
        ...(cluster && { cluster: cluster.state }),
      };
    },
    drain,
    sessionRequests: config.sessionRequests,
    ...(cluster && { requestsElsewhere: cluster.spending('requests') }),
    ...(certificate && { certificate: certificate.current }),
    sipWebSockets,
    log,
  });
  certificate?.onChange((changed) => rest.secureFront?.replaceCertificate(changed));
  const { hosts, port } = config.http;
  const { httpPort: securePort = 0 } = config.tls ?? {};
  try {
    const address = await listening(hosts, port, (all) => listenOn(rest, all, port));
    const { secureFront } = rest;
    const secureAddress =
      secureFront && (await listening(hosts, securePort, (all) => secureFront.listen(all, securePort)));
    return { address, secureAddress, close: () => rest.close() };
  } catch (error) {
    await rest.close();
    throw error;
  }
}

async function listening(
  hosts: readonly string[],
  port: number,
  open: (hosts: readonly string[]) => Promise<string>,
): Promise<string> {
  try {
    return await open(hosts);
  } catch (error) {
    const { code, address = hosts[0] ?? '' } = error as NodeJS.ErrnoException & { address?: string };
    if (code === undefined) throw error;
    throw new ListenError(code, `${address.includes(':') ? `[${address}]` : address}:${port}`, 'the REST service');
  }
}
