import type { DomainName } from '../../domain-name/index.ts';

/**
 * Headers that make a phone answer by itself. Phones disagree on which one they look at, so all common ones are sent:
 * RFC 5373 Answer-Mode, Call-Info answer-after (Snom, Polycom, baresip and others), Alert-Info (Yealink, Grandstream,
 * Linphone).
 */
export function autoAnswerHeaders(domain: DomainName): Record<string, string> {
  return {
    'Answer-Mode': 'Auto',
    'Call-Info': `<sip:${domain}>;answer-after=0`,
    'Alert-Info': `<http://${domain}>;info=alert-autoanswer;delay=0`,
  };
}
