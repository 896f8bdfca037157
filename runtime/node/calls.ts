/** The calls of a node: the switch, the rooms, and admission of calls. */
import type { Logger } from 'pino';
import { asDomainName, type DomainName } from '../domain-name/index.ts';
import { type CallHistory, type CallIds, MemoryCallStore, MemoryConferenceStore } from '../callstore/index.ts';
import type { Cluster, ClusterCallStore, ClusterConferences } from '../cluster/index.ts';
import type { Conferences } from '../conference/index.ts';
import type { Config } from '../config/index.ts';
import {
  type LiveDirectory,
  type PersistentLocation,
  sipUserNamed,
  type StoredSubscriptions,
} from '../domain/index.ts';
import type { CallGate } from '../embedded/index.ts';
import { callEvents, type EventBus, gatewayEvents, messageEvents, providerEvents } from '../events/index.ts';
import { allowedBy } from '../iam/index.ts';
import type { Metrics } from '../metrics/index.ts';
import {
  Admission,
  DigestBan,
  endCallsOf,
  OverloadNotice,
  RETRY_AT_LIMIT,
  SetupQueue,
  SourceRate,
  Switch,
} from '../switch/index.ts';
import { listener } from './adapters/speech.ts';
import { CallDoor } from './call-door.ts';
import { openConferences } from './conferences.ts';
import type { Drain } from './drain.ts';
import type { Duties } from './duties.ts';
import type { LateParts } from './late.ts';
import type { Prompts } from '../prompts/index.ts';
import type { Stir } from '../stir/index.ts';
import { nodeName } from './node-name.ts';
import type { Recordings } from './recordings.ts';
import type { VoiceMessages } from '../voicemail/index.ts';
import { followMessages } from './adapters/voicemail.ts';

export interface Calls {
  readonly switch: Switch;
  /** Of this node. */
  readonly callstore: MemoryCallStore;
  /** Of all nodes; undefined on a single node. */
  readonly everywhere: ClusterCallStore | undefined;
  readonly conferences: Conferences;
  /** Of this node. */
  readonly conferenceStore: MemoryConferenceStore;
  /** Of all nodes; undefined on a single node. */
  readonly everyConference: ClusterConferences | undefined;
  /** The reason to refuse a further call now; undefined: it is accepted. Counts refusals. */
  readonly overload: (by: 'sip' | 'rest', domain?: DomainName) => ReturnType<Admission['refuse']>;
  /** Ends all calls. */
  close(): Promise<void>;
}

export interface CallNeeds {
  readonly config: Config;
  readonly directory: LiveDirectory;
  readonly location: PersistentLocation;
  readonly events: EventBus;
  readonly metrics: Metrics;
  readonly recordings: Recordings;
  readonly history: CallHistory;
  readonly prompts: Pick<Prompts, 'playable'>;
  readonly voicemail: VoiceMessages;
  readonly subscriptionStore: StoredSubscriptions;
  /** Learns the ids of the calls. */
  readonly callIds: CallIds;
  readonly late: LateParts;
  /** New calls pass it on their way here; undefined with a real SIP server. */
  readonly gate: CallGate | undefined;
  readonly drain: Pick<Drain, 'refusal'>;
  /** Signs and verifies calls with providers. */
  readonly stir: Stir | undefined;
  readonly duties: Duties;
  /** Undefined on a single node. */
  readonly cluster: Cluster | undefined;
  readonly log: Logger;
}

export function openCalls(needs: CallNeeds): Calls {
  const { config, directory, location, events, metrics, recordings, history, callIds, late, drain, gate, log } = needs;
  const { recording, speech } = recordings;
  const callstore = new MemoryCallStore((domain, name) => sipUserNamed(directory, domain, name)?.login, callIds);
  const conferenceStore = new MemoryConferenceStore(callstore);
  const setups = new SetupQueue();
  const notice = new OverloadNotice({
    begun: () => {
      metrics.overloaded(true);
      log.warn('the node is overloaded: calls that would be set up too late are refused with 503');
    },
    ended: (refused, seconds) => {
      metrics.overloaded(false);
      log.info({ refused, seconds: Math.round(seconds) }, 'the overload is over');
    },
  });
  const door =
    gate &&
    new CallDoor(gate, setups, (refused) => {
      notice.refused(refused);
      metrics.callRefused('sip', refused);
    });
  const admission = new Admission(config.callLimits, {
    live: () => callstore.count,
    overloaded: () => notice.refused(),
  });
  // A call of a phone has passed the door already.
  const slow = { sip: () => door?.late === true, rest: () => door?.shut === true };
  const overload: Calls['overload'] = (by, domain) => {
    const full = domain === undefined ? undefined : b2b.limitReached(domain);
    if (full !== undefined)
      return { reason: `the domain is at its limit of ${full} calls`, retryAfterSeconds: RETRY_AT_LIMIT };
    const refusal = drain.refusal ?? admission.refuse(setups.refuses() || slow[by]());
    if (refusal) metrics.callRefused(by);
    return refusal;
  };
  const ban = new DigestBan(allowedBy(config.loginAllowList));
  needs.cluster?.shareFailures(ban);
  const nodes = needs.cluster?.nodeLink();
  needs.cluster?.shareCallCounts(callstore, (domain) => (directory.domain(domain)?.maxCalls ?? 0) > 0);
  const conferences = openConferences({
    config,
    store: conferenceStore,
    events,
    observer: metrics.conferences,
    changed: (domain, number) => late.switch.part.roomChanged(domain, number),
    farewells: needs.cluster?.farewellIndex,
    over: nodes && ((domain, number) => nodes.releaseRoom(domain, number)),
    log,
    media: () => late.media.part,
    prompts: needs.prompts,
    liveCall: (dialogid) => late.switch.part.liveCall(dialogid),
    layers: recording.layers,
    conferences: recording.conferences,
  });
  const b2b = new Switch({
    directory,
    location,
    callstore,
    conferences,
    site: config.site,
    node: nodeName(config),
    log,
    events: {
      emit: (domains, type, data, users) => {
        metrics.call(type);
        callEvents(events).emit(domains, type, data, users);
      },
    },
    duties: needs.duties,
    overload: () => overload('sip'),
    came: (waitedMs) => door?.came(waitedMs),
    senders: {
      ban,
      refused: (reason) => metrics.senderRefused(reason),
      rate: new SourceRate(config.sipRequests, undefined, needs.cluster?.spending('sip-requests')),
      digestKey: needs.cluster?.digestKey,
    },
    setups,
    draining: () => drain.refusal !== undefined,
    watcher: recording.recorder,
    observer: metrics.calls,
    history,
    index: needs.cluster?.callIndex,
    listenTo: listener(speech),
    countMessages: (domain, number) => needs.voicemail.counts(directory.domain(domain)?.id ?? '', number),
    subscriptionStore: needs.subscriptionStore,
    onText: messageEvents(events),
    onTrunk: providerEvents(events),
    onGateway: gatewayEvents(events),
    stir: needs.stir,
    nodes,
    startScenario: (code, call, language) => late.runner.part.serve(code, call, language),
  });
  followMessages(needs.voicemail, directory, b2b);
  late.switch.bind(b2b);
  const { dialogs, conferences: control } = b2b;
  directory.collections.domains.onChange(async ({ before, after }) => {
    if (before === undefined || after?.name === before.name) return;
    await endCallsOf(asDomainName(before.name), { calls: callstore, dialogs, conferences: conferenceStore, control });
  });
  const everywhere = needs.cluster?.callstore(callstore);
  const participants = (confid: string) => b2b.conferences.participants(confid);
  const everyConference = everywhere && needs.cluster?.conferences(conferenceStore, everywhere, participants);
  return {
    switch: b2b,
    callstore,
    everywhere,
    conferences,
    conferenceStore,
    everyConference,
    overload,
    close: () => b2b.shutDown(),
  };
}
