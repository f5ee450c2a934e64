/** Plots of a cost against what it may depend on, as SVG. */

import { parse, View } from "vega";
import { compile, type TopLevelSpec } from "vega-lite";
import type { Line, Summary } from "./statistics.js";

/** One point: the median of its repeats, and their spread. */
export interface PlotPoint extends Summary {
  readonly x: number;
}

export interface Plot {
  readonly title: string;
  readonly x: string;
  readonly y: string;
  readonly points: readonly PlotPoint[];
  readonly line: Line;
}

/** The text of an SVG file. The same plot gives the same text. */
export async function plotSvg({ title, x, y, points, line }: Plot): Promise<string> {
  const ends = [Math.min(...points.map((point) => point.x)), Math.max(...points.map((point) => point.x))];
  const places = {
    x: { field: "x", type: "quantitative", title: x },
    y: { field: "y", type: "quantitative", title: y },
  } as const;
  const spec: TopLevelSpec = {
    $schema: "https://vega.github.io/schema/vega-lite/v6.json",
    title,
    width: 480,
    height: 260,
    background: "white",
    layer: [
      {
        data: { values: ends.map((at) => ({ x: at, y: line.intercept + line.slope * at })) },
        mark: { type: "line", color: "#999" },
        encoding: places,
      },
      {
        data: { values: points.map(({ x: at, median, spread }) => ({ x: at, y: median, spread })) },
        mark: "errorbar",
        encoding: { ...places, yError: { field: "spread" } },
      },
      {
        data: { values: points.map(({ x: at, median }) => ({ x: at, y: median })) },
        mark: { type: "point", filled: true },
        encoding: places,
      },
    ],
  };
  return `${await new View(parse(compile(spec).spec), { renderer: "none" }).toSVG()}\n`;
}
