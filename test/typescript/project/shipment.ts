import { StatusCode, SvcTool } from "svc-runtime";

/** A parcel on the scales. */
export interface Parcel {
  /** Grams. */
  weight: bigint;
  /** Length, width and height in millimetres. */
  size: [length: number, width: number, height?: number];
  contents: Record<string, number>;
  insured?: { value: bigint; until: Date };
}

export type Carrier = "post" | "courier" | { drone: { range: number } };

export interface Input {
  parcels: Parcel[];
  carrier: Carrier;
  pickup: Date;
  /** The label as it was scanned. */
  label: Uint8Array;
  note?: string;
}

export interface Booked {
  number: string;
  weight: bigint;
  arrival: Date;
  label: Uint8Array;
  pieces: readonly [count: number, things: number];
  byCarrier: Record<string, bigint>;
  insured: bigint | null;
}

type Refusal = "too-heavy" | "empty";

export type Output = { booked: Booked } | { refused: { reason: Refusal; parcel: number | null } } | "closed";

const DAY = 24 * 60 * 60 * 1000;
const DAYS = { post: 3, courier: 1, drone: 0 } as const;

/** Books a shipment. */
export class Shipment extends SvcTool<Input, Output> {
  static override fqn() {
    return "xyz.test.shipment@1";
  }

  static override path() {
    return "shipment";
  }

  override async invoke({ parcels, carrier, pickup, label, note }: Input): Promise<Output> {
    if (note === "closed") return "closed";
    const heavy = parcels.findIndex(({ weight }) => weight > 30_000n);
    if (heavy >= 0) return { refused: { reason: "too-heavy", parcel: heavy } };
    const things = parcels.flatMap(({ contents }) => Object.values(contents)).reduce((sum, count) => sum + count, 0);
    if (things === 0) return { refused: { reason: "empty", parcel: null } };
    const by = typeof carrier === "string" ? carrier : "drone";
    const weight = parcels.reduce((sum, parcel) => sum + parcel.weight, 0n);
    const values = parcels.flatMap(({ insured }) => (insured === undefined ? [] : [insured.value]));
    return {
      booked: {
        number: `S-${parcels.length}-${by}`,
        weight,
        arrival: new Date(pickup.getTime() + DAYS[by] * DAY),
        label: label.toReversed(),
        pieces: [parcels.length, things],
        byCarrier: { [by]: weight },
        insured: values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0n),
      },
    };
  }

  override async health() {
    return StatusCode.OK;
  }
}
