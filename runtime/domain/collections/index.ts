/** The domain-center's collections, except users and roles, which the room `iam` builds on the same `Collection`. */
import type { Kysely } from 'kysely';
import type { ChangeNotices, Schema } from '../../storage/index.ts';
import { Collection } from './collection.ts';
import { type DomainRow, domains } from './domains.ts';
import { type FeatureCodeRow, featurecodes } from './featurecodes.ts';
import { type PromptRow, prompts } from './prompts.ts';
import { type ProviderRow, providers } from './providers.ts';
import { type RecordingRuleRow, recordingrules } from './recordingrules.ts';
import { type RouteRow, routes } from './routes.ts';
import type { CheckScript, ScriptRow } from './script-row.ts';
import { type CheckLimits, scripts } from './scripts.ts';
import { type SettingRow, settings } from './settings.ts';
import { type SipUserRow, sipusers } from './sipusers.ts';
import { type WebAppRow, webapps } from './webapps.ts';
import { type CheckWebhook, type WebhookRow, webhooks } from './webhooks.ts';

export interface Collections {
  readonly domains: Collection<DomainRow>;
  readonly sipusers: Collection<SipUserRow>;
  readonly featurecodes: Collection<FeatureCodeRow>;
  readonly routes: Collection<RouteRow>;
  readonly settings: Collection<SettingRow>;
  readonly webapps: Collection<WebAppRow>;
  readonly providers: Collection<ProviderRow>;
  readonly recordingrules: Collection<RecordingRuleRow>;
  readonly ivrscripts: Collection<ScriptRow>;
  readonly svcscripts: Collection<ScriptRow>;
  readonly webhooks: Collection<WebhookRow>;
  readonly prompts: Collection<PromptRow>;
}

export interface CollectionOptions {
  /** Checks scripts when they are written. Default: unchecked until a run. */
  readonly checkScript?: CheckScript | undefined;
  /** Checks limits when they are written. Default: invalid limits are ignored by runs. */
  readonly checkLimits?: CheckLimits | undefined;
  /** Checks webhooks when they are written. Default: unchecked. */
  readonly checkWebhook?: CheckWebhook | undefined;
  /** Change notices between nodes; absent on a single node. */
  readonly notices?: ChangeNotices | undefined;
}

const unchecked: CheckScript = async () => ({ problems: [], imports: new Map() });

/** @param db the database, or a transaction to write several entities at once */
export function createCollections(
  db: Kysely<Schema>,
  {
    checkScript = unchecked,
    checkLimits = () => undefined,
    checkWebhook = () => undefined,
    notices,
  }: CollectionOptions = {},
): Collections {
  const ivrscripts = new Collection<ScriptRow>(scripts('ivrscript', checkScript, checkLimits), db, notices);
  const svcscripts = new Collection<ScriptRow>(scripts('svcscript', checkScript, checkLimits), db, notices);
  Collection.link(ivrscripts, svcscripts);
  return {
    domains: new Collection<DomainRow>(domains, db, notices),
    sipusers: new Collection<SipUserRow>(sipusers, db, notices),
    featurecodes: new Collection<FeatureCodeRow>(featurecodes, db, notices),
    routes: new Collection<RouteRow>(routes, db, notices),
    settings: new Collection<SettingRow>(settings(checkLimits), db, notices),
    webapps: new Collection<WebAppRow>(webapps, db, notices),
    providers: new Collection<ProviderRow>(providers, db, notices),
    recordingrules: new Collection<RecordingRuleRow>(recordingrules, db, notices),
    ivrscripts,
    svcscripts,
    webhooks: new Collection<WebhookRow>(webhooks(checkWebhook), db, notices),
    prompts: new Collection<PromptRow>(prompts, db, notices),
  };
}
