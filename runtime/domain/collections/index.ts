/** The domain-center collections of this room. Users and roles are the room `iam`'s, built on the same `Collection`. */
import type { Kysely } from 'kysely';
import type { Schema } from '../../storage/index.ts';
import { Collection } from './collection.ts';
import { type DomainRow, domains } from './domains.ts';
import { type FeatureCodeRow, featurecodes } from './featurecodes.ts';
import { type RouteRow, routes } from './routes.ts';
import { type SettingRow, settings } from './settings.ts';
import { type SipUserRow, sipusers } from './sipusers.ts';
import { type WebAppRow, webapps } from './webapps.ts';

export interface Collections {
  readonly domains: Collection<DomainRow>;
  readonly sipusers: Collection<SipUserRow>;
  readonly featurecodes: Collection<FeatureCodeRow>;
  readonly routes: Collection<RouteRow>;
  readonly settings: Collection<SettingRow>;
  readonly webapps: Collection<WebAppRow>;
}

/** @param db the database, or a transaction to write several entities at once */
export function createCollections(db: Kysely<Schema>): Collections {
  return {
    domains: new Collection<DomainRow>(domains, db),
    sipusers: new Collection<SipUserRow>(sipusers, db),
    featurecodes: new Collection<FeatureCodeRow>(featurecodes, db),
    routes: new Collection<RouteRow>(routes, db),
    settings: new Collection<SettingRow>(settings, db),
    webapps: new Collection<WebAppRow>(webapps, db),
  };
}
