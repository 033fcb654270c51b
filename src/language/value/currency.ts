// The active alphabetic currency codes of ISO 4217 with their minor units: list one of 25 June 2024, with the
// amendments that took effect up to the start of 2026 (XCG and XAD were added; ANG, BGN and CUC were removed).
// The list includes funds, metals and the codes for testing and for no currency.

import { type Decimal, fractionDigits, fromNumber } from './decimal.ts';

const codesByDigits: readonly (readonly [digits: number, codes: string])[] = [
  [0, 'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF'],
  [
    2,
    `AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BMD BND BOB BOV BRL BSD BTN BWP BYN BZD CAD CDF CHE CHF
    CHW CNY COP COU CRC CUP CVE CZK DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GTQ GYD HKD HNL
    HTG HUF IDR ILS INR IRR JMD KES KGS KHR KPW KYD KZT LAK LBP LKR LRD LSL MAD MDL MGA MKD MMK MNT MOP MRU
    MUR MVR MWK MXN MXV MYR MZN NAD NGN NIO NOK NPR NZD PAB PEN PGK PHP PKR PLN QAR RON RSD RUB SAR SBD SCR
    SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TOP TRY TTD TWD TZS UAH USD USN UYU UZS VED
    VES WST XAD XCD XCG YER ZAR ZMW ZWG`,
  ],
  [3, 'BHD IQD JOD KWD LYD OMR TND'],
  [4, 'CLF UYW'],
  // Metals, units of account and the codes for testing have no minor unit: any amount can be paid in them.
  [Number.POSITIVE_INFINITY, 'XAG XAU XBA XBB XBC XBD XDR XPD XPT XSU XTS XUA XXX'],
];

const digitsOf: ReadonlyMap<string, number> = new Map(
  codesByDigits.flatMap(([digits, codes]) => codes.split(/\s+/).map((code) => [code, digits] as const)),
);

/** Whether the text is an active currency code. Codes are in upper case, as in the standard. */
export function isCurrency(code: string): boolean {
  return digitsOf.has(code);
}

/**
 * Returns how many decimal places an amount of the currency may have; infinity for a code without a minor
 * unit, and for a text that is no currency.
 */
export function unitDigits(code: string): number {
  return digitsOf.get(code) ?? Number.POSITIVE_INFINITY;
}

/** Whether the amount is a multiple of the currency's smallest unit. */
export function isInUnits(amount: Decimal, code: string): boolean {
  return fractionDigits(amount) <= unitDigits(code);
}

/** The most that a product with 10,000 still has as an exact integer. */
const plainMax = 1e11;

/** Whether the text is a currency, and the number, as JSON holds it, a multiple of its smallest unit. */
export function isAmountOf(amount: number, code: string): boolean {
  const digits = digitsOf.get(code);
  if (digits === undefined) return false;
  if (Number.isInteger(amount) || digits === Number.POSITIVE_INFINITY) return true;
  if (Math.abs(amount) > plainMax) return fractionDigits(fromNumber(amount)) <= digits;
  const power = 10 ** digits;
  return Math.round(amount * power) / power === amount;
}
