//! The rows of the self-test as a table.

use report::Language;
use unicode_width::UnicodeWidthStr;

use crate::{Row, Unit};

/// The lines of a table: expected, measured, error, verdict.
#[derive(Clone, Copy, Debug)]
pub struct FigureTable {
    language: Language,
}

/// A table in a language.
pub fn table(language: Language) -> FigureTable {
    FigureTable { language }
}

const LOAD: usize = 36;
const FIGURE: usize = 42;
const NUMBER: usize = 12;

impl FigureTable {
    /// The header line.
    pub fn head(&self) -> String {
        let [driver, load, figure, expected, measured, error, verdict] = self.language.pick(
            ["driver", "load", "figure", "expected", "measured", "error", "verdict"],
            ["I/O 后端", "压测", "数据", "应为", "测得", "误差", "结论"],
        );
        line(driver, load, figure, [expected, measured, error].map(str::to_owned), verdict)
    }

    /// The line of one figure.
    pub fn row(&self, row: &Row) -> String {
        let numbers = [shown(row.expected, row.unit), shown(row.measured, row.unit), error(row)];
        let verdict =
            if row.passes() { self.language.pick("ok", "通过") } else { self.language.pick("WRONG", "不符") };
        let (load, figure) =
            (self.language.pick(row.load.0, row.load.1), self.language.pick(row.figure.0, row.figure.1));
        line(row.driver, load, figure, numbers, verdict)
    }

    /// The last line.
    pub fn sum(&self, rows: usize, wrong: usize) -> String {
        match wrong {
            0 => self.language.pick(
                format!("\nall {rows} figures are what they must be\n"),
                format!("\n{rows} 项数据全部符合\n"),
            ),
            _ => self.language.pick(
                format!("\n{wrong} of {rows} figures are not what they must be: do not trust timings on this machine while it is as it is (other load? few cores?)\n"),
                format!("\n{rows} 项数据中有 {wrong} 项不符：在本机当前状态下（有其他负载？核数太少？）请勿相信计时结果\n"),
            ),
        }
    }
}

fn line(driver: &str, load: &str, figure: &str, numbers: [String; 3], verdict: &str) -> String {
    let left = |text: &str, width: usize| format!("{text}{}", " ".repeat(width.saturating_sub(text.width())));
    let right = |text: &str| format!("{}{text}", " ".repeat(NUMBER.saturating_sub(text.width())));
    let numbers: String = numbers.iter().map(|text| right(text)).collect();
    format!("{}{}{}{numbers}  {verdict}\n", left(driver, 7), left(load, LOAD), left(figure, FIGURE))
}

fn shown(value: f64, unit: Unit) -> String {
    match unit {
        Unit::Time => format!("{:.3}ms", value / 1e6),
        Unit::Count if value.fract() == 0.0 => format!("{value:.0}"),
        Unit::Count => format!("{value:.1}"),
        Unit::PerSecond => format!("{value:.1}/s"),
    }
}

fn error(row: &Row) -> String {
    let off = row.measured - row.expected;
    match row.unit {
        Unit::Time => format!("{:+.3}ms", off / 1e6),
        Unit::Count => format!("{off:+}"),
        Unit::PerSecond => format!("{:+.2}%", off / row.expected * 100.0),
    }
}
