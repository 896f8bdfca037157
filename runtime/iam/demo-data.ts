/**
 * Demo data of the first start: two domains, four people with phones, an administrator, dial prefixes and numbers. The
 * passwords are public, so the composition root requests it only while every listener is on loopback.
 */
import { createCollections } from '../domain/index.ts';
import type { Storage } from '../storage/index.ts';
import { createIamCollections } from './collections.ts';
import { DEMO_DOMAIN, MASTER_DOMAIN, fillEmpty } from './first-accounts.ts';
import { ADMIN_ROLE } from './grants.ts';
import { USER_ROLE } from './new-domain.ts';

/** Login and phone number. SIP password and user password are `demo-<login>`. */
export const DEMO_PEOPLE = [
  { login: 'alice', name: 'Alice', phonenumber: '101' },
  { login: 'bob', name: 'Bob', phonenumber: '102' },
  { login: 'carol', name: 'Carol', phonenumber: '103' },
  { login: 'dave', name: 'Dave', phonenumber: '104' },
] as const;

/** Numbers of the example scenarios. */
export const DEMO_SCENARIOS: Readonly<Record<string, string>> = {
  '500': 'menu',
  '501': 'echo',
  '502': 'voicemail',
  '503': 'survey',
  '504': 'queue',
  '505': 'guess',
  '506': 'retrieve',
  '507': 'agent',
  '508': 'opening',
  '509': 'appointment',
};

const FEATURE_CODES = [
  { prefix: '*80', type: 'intercom' },
  { prefix: '*70', type: 'conference' },
  { prefix: '*55', type: 'ivr' },
] as const;

/**
 * Fills an empty store in one transaction. Does nothing when the store has data, or another node was first.
 *
 * @returns true when the data were created
 */
export async function createDemoData(storage: Storage): Promise<boolean> {
  return await fillEmpty(storage, async (db) => {
    const { domains, sipusers, featurecodes, routes } = createCollections(db);
    const { users, roles } = createIamCollections(db);
    const master = await domains.create({ name: MASTER_DOMAIN, is_master: true });
    const demo = await domains.create({ name: DEMO_DOMAIN, parent_id: master.id });
    const domain_id = demo.id;
    await roles.create({ domain_id, ...USER_ROLE });
    const admin = { login: 'admin', name: 'Administrator', roles: [ADMIN_ROLE], domains: [master.id] };
    const people = DEMO_PEOPLE.map(({ login, name }) => ({ login, name, roles: [USER_ROLE.code] }));
    // Created concurrently, because hashing takes the time. The other data are made meanwhile.
    const creating = Promise.all(
      [admin, ...people].map((user) => users.create({ domain_id, pwd: `demo-${user.login}`, ...user })),
    );
    const others = async (): Promise<void> => {
      for (const featureCode of FEATURE_CODES) await featurecodes.create({ domain_id, ...featureCode });
      for (const [number, code] of Object.entries(DEMO_SCENARIOS)) {
        await routes.create({ domain_id, to_pattern: number, target: { type: 'scenario', code } });
      }
    };
    const creatingOthers = others();
    // No statement of either may come after a rollback.
    await Promise.allSettled([creating, creatingOthers]);
    await creatingOthers;
    const created = await creating;
    for (const { login, name, phonenumber } of DEMO_PEOPLE) {
      const user_id = created.find((user) => user.login === login)?.id;
      await sipusers.create({ domain_id, login, name, phonenumber, pwd: `demo-${login}`, user_id });
    }
  });
}
