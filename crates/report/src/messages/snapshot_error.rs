//! Errors of bytes that are no snapshot, in both languages: cause and remedy.

use metrics::{SNAPSHOT_BYTES_MAX, SNAPSHOT_VERSION, SnapshotError};

use crate::Language;

/// The error in one line.
pub fn snapshot_error(error: &SnapshotError, language: Language) -> String {
    match language {
        Language::En => error.to_string(),
        Language::Zh => in_chinese(error),
    }
}

fn in_chinese(error: &SnapshotError) -> String {
    match error {
        SnapshotError::Mark => "这不是 onrush 的快照；请使用 onrush 自己写出的文件或连接".to_owned(),
        SnapshotError::Version { found } => {
            format!("快照版本为 {found}，当前 onrush 最高只能读取版本 {SNAPSHOT_VERSION}；请在这里也换用较新的 onrush")
        }
        SnapshotError::TooLong { bytes } => {
            format!("快照有 {bytes} 字节，最多读取 {SNAPSHOT_BYTES_MAX} 字节；请减少逐条保留的请求")
        }
        SnapshotError::Protocol { failure } => {
            format!("快照中有当前 onrush 不支持的协议的失败：{failure}；请使用支持该协议的 onrush")
        }
        SnapshotError::Cut => "快照不完整，末尾被截断；请重新写出或重新发送".to_owned(),
        SnapshotError::Damaged { left } => format!("快照已损坏，位置在末尾之前 {left} 字节；请重新写出或重新发送"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Both languages name the same numbers.
    #[test]
    fn each_mistake_is_reported_in_both_languages() {
        for (error, numbers) in [
            (SnapshotError::Mark, vec![]),
            (SnapshotError::Version { found: 77 }, vec![77, SNAPSHOT_VERSION]),
            (SnapshotError::TooLong { bytes: 5_000_000_000 }, vec![5_000_000_000, SNAPSHOT_BYTES_MAX as u64]),
            (SnapshotError::Cut, vec![]),
            (SnapshotError::Damaged { left: 12_345 }, vec![12_345]),
        ] {
            let (english, chinese) = (snapshot_error(&error, Language::En), snapshot_error(&error, Language::Zh));
            assert!(english.is_ascii() && english.contains("; "), "{english}");
            assert!(chinese.contains("快照") && chinese != english, "{chinese}");
            for text in [&english, &chinese] {
                assert!(numbers.iter().all(|number| text.contains(&number.to_string())), "{text}");
            }
        }
        let error = SnapshotError::Protocol { failure: "redis-login".to_owned() };
        let [english, chinese] = [Language::En, Language::Zh].map(|language| snapshot_error(&error, language));
        assert!(english.is_ascii() && english.contains("redis-login; "), "{english}");
        assert!(chinese.contains("快照") && chinese.contains("redis-login"), "{chinese}");
    }
}
