//! Why a run does not begin.

use engine::{PlacesError, RunError};

use super::in_chinese;
use crate::Language;

/// A system that the engine cannot work on.
pub fn run_error(error: &RunError, language: Language) -> String {
    match (language, error) {
        (Language::En, error) => error.to_string(),
        (Language::Zh, RunError::System(reason)) => {
            in_chinese(&format!("引擎无法在此系统上运行：{reason}；请调大上限（ulimit -n、内存）或减少 --threads"))
        }
        (Language::Zh, RunError::Places(PlacesError::NotOurs { address })) => {
            format!("{address} 不是本机地址；请用 ip address 查看，或添加：ip address add {address} dev ...")
        }
        (Language::Zh, RunError::Places(PlacesError::Families { from, to })) => {
            format!("无法从 {from} 连接 {to}：一个是 IPv4，另一个是 IPv6；请使用同一种地址")
        }
        (Language::Zh, RunError::Pin { core, reason }) => {
            in_chinese(&format!("无法把线程绑定到核心 {core}：{reason}；请去掉 --pin-threads"))
        }
        (Language::Zh, RunError::NoInterpreter) => {
            "场景中用到了表达式，但此程序构建时不含 JavaScript；请用 --features script 重新构建".to_owned()
        }
        (Language::Zh, RunError::Afar(fault)) => in_chinese(&fault.to_string()),
        (Language::Zh, RunError::Expression { reason }) => in_chinese(&format!("表达式无法使用：{reason}")),
    }
}
